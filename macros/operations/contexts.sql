{#- The entities that an operation is about. Operations that load have them checked as a run does,
    others as far as they need it; all that is wrong is raised at once. Where no entity is named,
    one that is wrong keeps operations from no other, unless they are for all or none.
    Arguments: operation (name of the macro, for messages), names (list of entities, or one; none
    for all), broken (a dictionary that takes what is wrong with an entity, by its name, for
    operations that only look: then nothing else is raised than unknown names). Returns a list of
    contexts (of _context(), and of _writing() for operations that write to tables), each with
    ledger_node and node (that of stg_<name>), which are dbt's. -#}
{%- macro _contexts(operation, names=none, broken=none) -%}
    {%- do spark_cdc._other_platform() -%}  {#- which entities are read for -#}
    {%- set wanted = [names] if names is string else (names or []) -%}
    {%- set loads, each = operation in ['backfill', 'fill_column', 'import_history', 'plan'], operation in ['vacuum', 'compact', 'maintain'] -%}
    {%- set problems = [] if broken is not none
        else spark_cdc._schema_problems(target.schema) + spark_cdc._var_problems(none if loads else ['spark_cdc_sensitive_schema', 'spark_cdc_platform'])
            + spark_cdc._catalog_problems() -%}
    {%- set known, found = [], [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}
        {%- do known.append(name) -%}
        {%- if not wanted or name in wanted -%}
            {%- set wrong = spark_cdc._entity_problems(name, node) if loads else spark_cdc._needed_problems(name, node) -%}
            {%- if wrong and broken is not none -%}
                {%- do broken.update({name: wrong}) -%}
            {%- elif wrong and each and not wanted -%}
                {%- do exceptions.warn('spark_cdc.' ~ operation ~ ': left out ' ~ name ~ ', which is wrong:\n  - ' ~ wrong | join('\n  - ')) -%}
            {%- else -%}
                {%- do problems.extend(wrong) -%}
                {%- do found.append((name, node, graph.nodes[ledger])) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name in wanted if name not in known -%}
        {%- do problems.append("there is no entity '%s' with a model stg_%s and a model %s_ledger; accepted are %s" % (name, name, name, known | join(', '))) -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do spark_cdc._refuse_settings('spark_cdc.' ~ operation ~ ' found ' ~ spark_cdc._counted(problems | length, 'problem')
            ~ ' before anything was done:\n  - ' ~ problems | unique | join('\n  - ')) -%}
    {%- endif -%}
    {%- set contexts = [] -%}
    {%- for name, node, ledger_node in found -%}
        {%- set entity = spark_cdc._entity_as_loaded(name, node, ledger_node.schema) -%}
        {%- set ctx = dict(spark_cdc._context(entity, ledger_node.schema), ledger_node=ledger_node, node=node) -%}
        {%- do contexts.append(ctx if broken is not none or operation in ['acknowledge', 'branch', 'discard_replay', 'tag'] else spark_cdc._writing(ctx)) -%}
    {%- endfor -%}
    {{ return(contexts) }}
{%- endmacro -%}


{#- The entities that an operation on drafts is about: those named, or all that have a draft.
    Returns contexts with draft (manifest, or an empty one). -#}
{%- macro _contexts_with_drafts(operation, names) -%}
    {%- set found = [] -%}
    {%- for ctx in spark_cdc._contexts(operation, names) -%}
        {%- set draft = spark_cdc._read_draft(ctx) -%}
        {%- if draft.existed or names -%}{%- do found.append(dict(ctx, draft=draft)) -%}{%- endif -%}
    {%- endfor -%}
    {%- do spark_cdc._stop(operation, [] if found else ['no entity has a draft of a replay. Begin one: spark-cdc replay --from DATE --select ENTITY']) -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Entities with the manifests that readers see, for operations that look at many of them: one
    statement that lists schemas, one per schema. An entity whose names or columns are wrong
    stops no other: what is wrong with it is handed back. Arguments: operation (name of the
    macro, for messages), names (list of entities, or one; none for all), with_timelines (whether
    manifests are read). Returns a dictionary: contexts (as of _contexts(), each with timeline and
    draft, manifests), broken (name to list of
    problems), wanted (list of the names; none for all). -#}
{%- macro _contexts_with_timelines(operation, names=none, with_timelines=true) -%}
    {%- set wanted, broken, problems = [names] if names is string else names or none, {}, spark_cdc._branch_problems() -%}
    {%- do spark_cdc._stop(operation, problems) -%}
    {%- set contexts = spark_cdc._contexts(operation, wanted, broken) -%}
    {%- if not with_timelines -%}{{ return({'contexts': contexts, 'broken': broken, 'wanted': wanted}) }}{%- endif -%}
    {%- set texts = spark_cdc._committed_texts(contexts | map(attribute='schema')) -%}
    {%- set found = [] -%}
    {%- for ctx in contexts -%}
        {%- set manifests = {} -%}
        {%- for name, view in {'timeline': ctx.committed, 'draft': ctx.replay}.items() -%}
            {%- set text = texts.get(ctx.schema ~ '.' ~ view.identifier) -%}
            {%- do manifests.update({name: spark_cdc._parse_manifest(text, view) if text is not none else spark_cdc._empty_manifest()}) -%}
        {%- endfor -%}
        {%- do found.append(dict(ctx, **manifests)) -%}
    {%- endfor -%}
    {{ return({'contexts': found, 'broken': broken, 'wanted': wanted}) }}
{%- endmacro -%}


{#- Stops an operation, if there are problems (texts): it names itself, what was found (and of which
    entity, if they are of one), and what did not happen. -#}
{%- macro _stop(operation, problems, ends='Nothing was changed.', entity=none) -%}
    {%- if problems -%}
        {%- set of = entity.name ~ ': ' if entity else '' -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.' ~ operation ~ ': ' ~ of ~ (problems | join('; ')).removesuffix('.') ~ '. ' ~ ends) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Says what an operation has done, or in a dry run what it would do. -#}
{%- macro _say(text) -%}
    {%- do log(text ~ ('. Nothing was changed (execute: false)' if spark_cdc._mode() == 'plan'), info=true) -%}
{%- endmacro -%}


{#- Begins an operation. Refuses arguments of another type than it takes, before anything is looked
    at: --args '{execute: "false"}' is a text, which Jinja takes for true. With execute: false the
    operation only prints what it would do (see _mode()).
    Arguments: operation (name of the macro), given (argument to value). -#}
{%- macro _check_arguments(operation, given) -%}
    {%- set flag, number = {'kind': 'boolean'}, {'kind': 'number'} -%}
    {%- set state, column = {'kind': 'state', 'null': true}, {'kind': 'text', 'null': true, 'says': 'a column, or a condition'} -%}
    {%- set rules = {
        'entities': {'kind': 'names', 'null': true}, 'entity': {'kind': 'text', 'says': 'the name of an entity'},
        'execute': flag, 'force': flag, 'drop': flag, 'histories': flag, 'skip_missing': flag, 'even_if_absent': flag,
        'inclusive_end': flag, 'ignore': {'kind': 'names', 'null': true}, 'open_end': {'kind': 'any'}, 'format': {'kind': 'text', 'says': 'a format'},
        'older_than_days': number, 'retention_hours': number, 'dates_per_statement': number, 'to': state, 'at': state, 'first': {'kind': 'state'},
        'column': {'kind': 'text', 'says': 'the name of a column'},
        'source': {'kind': 'text', 'null': true, 'says': 'a table or a file'}, 'name': {'kind': 'text', 'null': true, 'says': 'a name'},
        'valid_from': column, 'valid_to': column, 'is_current': column, 'deleted_when': column,
    } -%}
    {%- set problems = [] -%}
    {%- for name, value in given.items() -%}
        {%- set problem = spark_cdc._setting_error(name, value, rules[name]) -%}
        {%- if problem is not none -%}{%- do problems.append(problem ~ (' (it is a text)' if value is string and rules[name].kind in ['boolean', 'number'])) -%}{%- endif -%}
    {%- endfor -%}
    {%- set is_tested = operation not in ['acknowledge', 'discard_replay', 'import_history', 'maintain'] -%}
    {%- do spark_cdc._stop(operation, problems + spark_cdc._dbt_problems([('the operation ' ~ operation, is_tested)])) -%}
    {%- if given.get('execute') is false -%}{%- do spark_cdc._memo().update({'mode': 'plan'}) -%}{%- endif -%}
    {%- do spark_cdc._other_platform() -%}
{%- endmacro -%}


{#- An entity as a load has it that was written under an earlier definition: stored columns with
    their roles, types and masks, and the secret that its hashes were keyed with, as far as that
    is still there. Arguments: entity (as it is declared now), record (of the load). Returns a
    dictionary as of _entity(). -#}
{%- macro _described_then(entity, record) -%}
    {%- if record.definition == spark_cdc._definition(entity) -%}{{ return(entity) }}{%- endif -%}
    {%- set masks = fromjson(record.definition.get('masks') or '{}') -%}
    {%- set id = (record.definition.get('hash specification') or '').partition(' with secret ')[2] -%}
    {%- set secret = spark_cdc._secret_of_id(id) if id else none -%}
    {%- set secret = secret if secret is not none and spark_cdc._known(secret) is not none else spark_cdc._secret() -%}
    {%- set stored = [] -%}
    {%- for name, text in record.definition.items() if text.split(' ')[0] in ['key', 'compared', 'untracked'] -%}
        {%- set mask = masks.get(name) -%}
        {%- do stored.append({
            'name': name, 'sql': spark_cdc._quote(name), 'role': text.split(' ')[0], 'data_type': text.partition(' ')[2],
            'sensitive': name in masks, 'mask': mask, 'pseudonym': mask.removeprefix('token of ') if (mask or '').startswith('token of ') else none,
            'secret': secret if name in masks else none,
        }) -%}
    {%- endfor -%}
    {{ return(dict(
        entity,
        stored=stored,
        key_columns=stored | selectattr('role', 'equalto', 'key') | list,
        compared=stored | selectattr('role', 'equalto', 'compared') | list,
        untracked=stored | selectattr('role', 'equalto', 'untracked') | list,
        sensitive=stored | selectattr('sensitive') | list,
    )) }}
{%- endmacro -%}


{#- Text with the new names of loads in the place of the old ones. -#}
{%- macro _with_new_names(text, names) -%}
    {%- set at = namespace(text=text) -%}
    {%- for old, new in names.items() -%}{%- set at.text = at.text.replace(old, new) -%}{%- endfor -%}
    {{ return(at.text) }}
{%- endmacro -%}


{#- What the metastore knows of an entity's tables and views, the claims of its commits, its tags
    and what is kept for change feeds at this moment, read anew at each call. Returns a
    dictionary, also of the schema where sensitive columns lie, from the name to: type (TABLE or
    VIEW), text (of a view), location and provider (file format, of a table); an empty one where
    the schema is missing. -#}
{%- macro _catalog_of(ctx) -%}
    {%- set catalog = {} -%}
    {%- if not spark_cdc._has_schema(ctx.schema) -%}{{ return(catalog) }}{%- endif -%}
    {%- set rows = [] -%}
    {%- for schema in [ctx.schema, ctx.ledger.schema] | unique
            if schema == ctx.schema or spark_cdc._has_schema(schema) -%}
        {%- do rows.extend(spark_cdc._shown_in(schema, ctx.entity.name ~ '_*')) -%}
    {%- endfor -%}
    {%- for row in rows -%}
        {%- do catalog.update({row.tableName: {
            'type': 'VIEW' if spark_cdc._is_view_in(row.information) else 'TABLE',
            'text': spark_cdc._view_text_in(row.information),
            'location': spark_cdc._location_in(row.information) or none,
            'provider': spark_cdc._provider_of(row) or none,
        }}) -%}
    {%- endfor -%}
    {%- for sequence in spark_cdc._numbers_beside(ctx) -%}
        {%- set claim = spark_cdc._beside(ctx, 'commit', sequence) -%}
        {%- do catalog.update({claim.identifier: {'type': 'VIEW', 'text': spark_cdc._view_text(claim), 'is_claim': true}}) -%}
    {%- endfor -%}
    {%- for name, manifest in spark_cdc._tags(ctx).items() -%}
        {%- do catalog.update({spark_cdc._beside(ctx, 'tag', name).identifier: {'type': 'VIEW', 'text': manifest.text}}) -%}
    {%- endfor -%}
    {%- for sequence, manifest in spark_cdc._retained_versions(ctx).items() -%}
        {%- do catalog.update({spark_cdc._beside(ctx, 'version', sequence).identifier: {'type': 'VIEW', 'text': manifest.text, 'kept_at': manifest.kept_at}}) -%}
    {%- endfor -%}
    {{ return(catalog) }}
{%- endmacro -%}


{#- The texts of the views <entity>_committed and <entity>_replay, which hold the manifests: one
    statement per schema. Argument: schemas (list of names). Returns a dictionary, `schema.view`
    to text; without those of a schema that is not there. -#}
{%- macro _committed_texts(schemas) -%}
    {%- set texts = {} -%}
    {%- for schema in schemas | unique if spark_cdc._has_schema(schema) -%}
        {%- for row in spark_cdc._shown_in(schema, '*_committed|*_replay') -%}
            {%- do texts.update({schema ~ '.' ~ row.tableName: spark_cdc._view_text_in(row.information)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(texts) }}
{%- endmacro -%}


{#- The loads that count, or that somebody is about to make count: all that the entity's
    manifests name, be they committed, claimed, drafted, tagged or kept for change feeds. Loads
    that were undone are among them until vacuum expires them. Returns a dictionary: named,
    and compacted (what the histories among them stand for). -#}
{%- macro _named_loads(ctx) -%}
    {%- set named = [] -%}
    {%- for identifier, found in spark_cdc._catalog_of(ctx).items()
            if found.type == 'VIEW' and identifier not in ctx.expired_versions and ('spark_cdc manifest' in found.text or identifier.endswith(('_committed', '_replay')) or '_commit_' in identifier) -%}
        {%- if 'spark_cdc manifest:' in found.text -%}
            {%- set manifest = spark_cdc._parse_manifest(found.text, identifier) -%}
            {%- do named.extend(manifest.loads + spark_cdc._undone_loads(manifest) | reject('in', ctx.expired) | list) -%}
        {%- else -%}
            {%- for part in found.text.replace('"', "'").split("'") if spark_cdc._is_load_id(part) -%}{%- do named.append(part) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set named = named | unique | list -%}
    {%- set histories = spark_cdc._loads_with(named, 'is_history') -%}
    {%- set records = spark_cdc._load_records(ctx.public, histories) -%}
    {%- if records | length < histories | length -%}
        {%- set missing = 'the records of compacted loads are missing (' ~ histories | join(', ') ~ '), which say what to keep' -%}
        {%- do spark_cdc._refuse_vacuum(ctx, missing) -%}
    {%- endif -%}
    {{ return({'named': named, 'compacted': records.values() | map(attribute='compacted') | sum(start=[]) | unique | list}) }}
{%- endmacro -%}


{#- Why a manifest can't be the timeline: <entity>_committed would show its rows under the columns
    that the YAML declares now. A text, or none. -#}
{%- macro _other_columns_problem(ctx, manifest) -%}
    {%- if spark_cdc._has_columns_of(ctx.entity, manifest.definition) -%}{{ return(none) }}{%- endif -%}
    {%- set name, last = ctx.entity.name, manifest.loads | last -%}
    {%- set record = spark_cdc._load_records(ctx.public, [last]).get(last) or {} -%}
    {%- set columns = [] -%}
    {%- for column, what in (record.get('definition') or {}).items() if what.split(' ')[0] in ['key', 'compared', 'untracked'] -%}
        {%- set role, data_type = what.split(' ', 1) -%}
        {%- do columns.append('      - {name: ' ~ tojson(column) ~ ', data_type: ' ~ tojson(data_type)
            ~ (', config: {meta: {role: ' ~ role ~ '}}' if role != 'compared') ~ '}') -%}
    {%- endfor -%}
    {%- set problem -%}
{{ name }}: after {{ last }} the columns were other ones than stg_{{ name }} has now, and no load that is gone had those of now. {# -#}
Give the YAML the columns, types and roles back that it had then, and run the same command again
{%- if columns %}:
    columns:
{{ columns | join('\n') }}
{%- else -%}
.
{%- endif -%}
    {%- endset -%}
    {{ return(problem) }}
{%- endmacro -%}
