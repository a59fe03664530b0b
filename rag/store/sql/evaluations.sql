-- name: sets
SELECT set_name AS name, count(*) AS count FROM evaluation_cases WHERE user_id = :user_id
GROUP BY set_name ORDER BY lower(set_name), set_name;

-- name: get
SELECT question FROM evaluation_cases WHERE user_id = :user_id AND set_name = :set_name ORDER BY created_at, id;

-- name: put
INSERT INTO evaluation_cases (user_id, set_name, id, question) VALUES (:user_id, :set_name, :id, :question)
ON CONFLICT (user_id, set_name, id) DO UPDATE SET question = excluded.question;

-- name: delete
DELETE FROM evaluation_cases WHERE user_id = :user_id AND set_name = :set_name AND id = :id RETURNING id;

-- name: runs
-- Without results of earlier versions, which have no subject, and without those of single questions.
SELECT id, request ->> 'name' AS name, index_name, result ->> 'subject' AS subject, result ->> 'scope' AS scope,
       (result -> 'measures' ->> 'questions')::int AS questions, (result -> 'measures') - 'questions' AS measures,
       result -> 'intervals' AS intervals, finished_at
FROM jobs
WHERE user_id = :user_id AND kind = 'evaluation' AND status = 'done' AND result ? 'subject'
ORDER BY finished_at DESC, id
LIMIT :most;
