-- name: list
-- Those of an earlier version, which tell no subject, are left out. What was found for each question stays in the database.
SELECT id, request ->> 'name' AS name, index_name, result ->> 'subject' AS subject, result ->> 'scope' AS scope,
       (result -> 'measures' ->> 'questions')::int AS questions, (result -> 'measures') - 'questions' AS measures,
       result -> 'intervals' AS intervals, finished_at
FROM jobs
WHERE user_id = :user_id AND kind = 'evaluation' AND status = 'done' AND result ? 'subject'
ORDER BY finished_at DESC, id
LIMIT :most;
