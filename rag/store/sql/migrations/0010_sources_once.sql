-- An answer has each source once, by the id that its citations name, and a citation has the lines of its quote: those
-- that the centre of one of its boxes lies in. Before, each citation had its source whole.

UPDATE messages
SET response = response || (
    SELECT jsonb_build_object(
        'sources', coalesce(jsonb_object_agg(citation ->> 'citation_id', citation -> 'hit'), '{}'),
        'citations', coalesce(
            jsonb_agg(citation - 'hit' || jsonb_build_object('lines', quoted.lines) ORDER BY position), '[]'))
    FROM jsonb_array_elements(response -> 'citations') WITH ORDINALITY AS citations (citation, position)
    CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_agg(line ORDER BY number), '[]') AS lines
        FROM jsonb_array_elements(citation #> '{hit,passage,lines}') WITH ORDINALITY AS passage (line, number)
        WHERE EXISTS (
            SELECT
            FROM jsonb_array_elements(citation -> 'regions') AS region
            CROSS JOIN jsonb_array_elements(region -> 'rects') AS rect
            CROSS JOIN LATERAL (
                SELECT ((rect ->> 0)::float8 + (rect ->> 2)::float8) / 2 AS x,
                       ((rect ->> 1)::float8 + (rect ->> 3)::float8) / 2 AS y
            ) AS centre
            WHERE region -> 'page_number' = line -> 'page_number'
              AND x BETWEEN (line #>> '{bbox,0}')::float8 AND (line #>> '{bbox,2}')::float8
              AND y BETWEEN (line #>> '{bbox,1}')::float8 AND (line #>> '{bbox,3}')::float8
        )
    ) AS quoted
)
WHERE response ? 'citations';
