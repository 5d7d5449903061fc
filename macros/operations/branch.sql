{#- A place to try things: a schema of its own in which entities are as they are in production now,
    and where loads, replays, undo and changes of columns leave production as it is. What was loaded
    there is read where it lies, nothing is copied; what the branch writes lies in its own tables
    (docs/branches.md). Run it with production's target; the branch is the same project with a
    target whose schema is the branch's name. The same command again does what one that was
    interrupted has left.
        dbt run-operation spark_cdc.branch --args '{name: pr_7, entities: [orders, customers]}'
    Arguments: name (of the branch and its schema: lower case letters, digits, underscores),
    entities (list of names, or one; none for all that have a load), drop (whether the branch is
    dropped, with all that lies in its schemas), execute (whether it is done; else it is only said).
    Returns nothing. -#}
{%- macro branch(name, entities=none, drop=false, execute=true) -%}
    {%- do spark_cdc._check_arguments('branch', {'name': name, 'entities': entities, 'drop': drop, 'execute': execute}) -%}
    {%- if not spark_cdc._is_name(name | string, 33) or name.endswith('_commits') -%}
        {%- set message -%}
spark_cdc.branch: '{{ name }}' can't be the name of a branch, which is its schema's. Accepted are up to 33 lower case letters, digits and {# -#}
underscores, a letter first, that do not end in _commits: spark-cdc branch create pr_7. Nothing was changed.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- elif drop -%}
        {#- Drops a branch: its schemas with all that lies in them, then its tags in production, and
            its markers last. -#}
        {%- set schemas = spark_cdc._branch_schemas(name) -%}
        {%- set of_branch, others = [], [] -%}
        {%- for schema, mapped in schemas.items() if mapped is not none -%}
            {%- set marker = spark_cdc._branch_marker_of(mapped) -%}
            {%- if marker is not none and (marker.of, marker.name) == (schema, name) -%}
                {%- do of_branch.append(mapped) -%}
            {%- elif marker is not none -%}
                {%- do others.append(mapped ~ ' is a branch of ' ~ marker.of ~ ', and the target\'s schema is ' ~ target.schema
                    ~ ': run it with the target of ' ~ marker.of) -%}
            {%- elif mapped == name and spark_cdc._has_schema(name) -%}
                {%- do others.append('the schema ' ~ name ~ ' is no branch, so it is not dropped') -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set tags = spark_cdc._branch_tags(schemas | list, name) -%}
        {%- if others or not (of_branch or tags) -%}
            {%- set known = spark_cdc._branch_tags(schemas | list) | map(attribute='name') | unique | sort | join(', ') -%}
            {%- do spark_cdc._stop('branch', others or ["there is no branch '" ~ name ~ "'"], 'Accepted are ' ~ (known or 'none yet') ~ '. Nothing was dropped.') -%}
        {%- endif -%}
        {%- for schema in of_branch -%}{%- do spark_cdc._drop_schema(schema) -%}{%- endfor -%}
        {%- for tag in tags -%}{%- do spark_cdc._drop_view(tag.view) -%}{%- endfor -%}
        {%- for schema in of_branch -%}{%- do spark_cdc._drop_schema(spark_cdc._branch_marker(schema).schema) -%}{%- endfor -%}
        {%- do spark_cdc._say('branch ' ~ name ~ ' dropped: ' ~ (of_branch | join(', ') or 'its schema was gone')
            ~ '; vacuum no longer keeps its loads in production') -%}
    {%- else -%}
        {%- do spark_cdc._create_branch(name, spark_cdc._contexts('branch', entities)) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The schemas of a branch by those of production that they stand for: the target's schema is the
    branch's name, and where a model has a schema of its own, which dbt puts behind the target's
    (cdc_sales), so it does there (pr_7_sales).
    Argument: schemas (of production; none for all that entities of this project and cdc_loads lie
    in).
    Returns a dictionary; none for a schema that does not begin with the target's. -#}
{%- macro _branch_schemas(name, schemas=none) -%}
    {%- set of_project = [] -%}
    {%- for entity, node, ledger in spark_cdc._entity_nodes() if schemas is none -%}{%- do of_project.append(graph.nodes[ledger].schema) -%}{%- endfor -%}
    {%- set load_log = spark_cdc._load_log() if schemas is none else none -%}
    {%- if load_log is not none -%}{%- do of_project.append(load_log.schema) -%}{%- endif -%}
    {%- set found = {target.schema: name} -%}
    {%- for schema in (of_project if schemas is none else schemas) | unique | reject('equalto', target.schema) -%}
        {%- set rest = schema.removeprefix(target.schema ~ '_') -%}
        {%- do found.update({schema: name ~ '_' ~ rest if rest != schema else none}) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- A branch's tags: the state of each entity that it was made from, named in production as any
    tag is, so that production's vacuum keeps those loads as long as the branch is there.
    Arguments: schemas (of production), name (of a branch; none for all). Returns dictionaries:
    view, text, manifest, name (of the branch), entity. -#}
{%- macro _branch_tags(schemas, name=none) -%}
    {%- set tags = [] -%}
    {%- for schema in schemas if spark_cdc._has_schema(schema ~ '_commits') -%}
        {%- set pattern = '*_tag_branch_' ~ (name or '*') -%}
        {%- for identifier in spark_cdc._views_in(schema ~ '_commits', pattern) -%}
            {%- set view = spark_cdc._relation_in(schema ~ '_commits', identifier) -%}
            {%- set text = spark_cdc._view_text(view) -%}
            {%- set manifest = spark_cdc._parse_manifest(text, view) if 'spark_cdc manifest:' in text else {} -%}
            {%- set tag = manifest.get('tag') or {} -%}
            {%- if tag.get('branch') and name in [none, tag.branch] -%}
                {%- do tags.append({'view': view, 'schema': schema, 'text': text, 'manifest': manifest, 'name': tag.branch, 'entity': tag.entity}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(tags) }}
{%- endmacro -%}


{#- Makes a branch, or completes one: see branch(). All entities are checked before anything is
    made. The views <entity>_committed, by which readers and loads know that an entity is there,
    come last. -#}
{%- macro _create_branch(name, contexts) -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- set schemas = spark_cdc._branch_schemas(name) -%}
    {%- set problems = spark_cdc._new_branch_problems(name, schemas) -%}
    {%- set of_log = spark_cdc._relation_in(schemas[load_log.schema], load_log.identifier) if load_log is not none else none -%}
    {%- set planned, empty = [], [] -%}
    {%- if not problems -%}
        {%- set tagged = {} -%}
        {%- for tag in spark_cdc._branch_tags(schemas | list, name) -%}{%- do tagged.update({tag.entity: tag}) -%}{%- endfor -%}
        {%- set relations = {} -%}
        {%- for schema in contexts | map(attribute='schema') | unique -%}
            {%- do relations.update({schema: spark_cdc._relations_in(schema), schemas[schema]: spark_cdc._relations_in(schemas[schema])}) -%}
        {%- endfor -%}
        {%- for ctx in contexts -%}
            {%- set schema = schemas[ctx.schema] -%}
            {%- set plan = spark_cdc._planned_branch(
                name, ctx, dict(spark_cdc._context(ctx.entity, schema), load_log=of_log), relations[ctx.schema], relations[schema],
                tagged.get(ctx.entity.name)) -%}
            {%- if plan is none -%}
                {%- do empty.append(ctx.entity.name) -%}
            {%- else -%}
                {%- do problems.append(plan.problem) if plan.problem else planned.append(plan) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if not planned and not problems -%}
            {%- do problems.append('nothing is committed of ' ~ (empty | join(', ') or 'any entity')
                ~ ', so a branch would be an empty schema. Load into one: a target with the schema ' ~ name ~ ' needs no branch') -%}
        {%- endif -%}
    {%- endif -%}
    {%- do spark_cdc._stop('branch', problems, 'Nothing was made.') -%}

    {%- for schema, of_branch in schemas.items() -%}
        {%- set marker = spark_cdc._branch_marker(of_branch) -%}
        {%- do spark_cdc._make_schema(marker.schema) -%}
        {%- do spark_cdc._make_view(marker, 'select /* spark_cdc branch: '
            ~ spark_cdc._comment_json({'name': name, 'of': schema}) ~ ' */ 1 as is_branch') -%}
        {%- do spark_cdc._make_schema(of_branch) -%}
    {%- endfor -%}
    {%- for plan in planned if not plan.is_there -%}
        {%- do spark_cdc._make_view(plan.tag, plan.tag_text) -%}
        {%- set made = spark_cdc._parse_manifest(plan.tag_text if spark_cdc._mode() == 'plan' else spark_cdc._view_text(plan.tag), plan.tag) -%}
        {%- if made.loads != plan.manifest.loads or made.get('tag', {}).get('branch') != name -%}
            {%- set message -%}
{{ plan.name }}: the tag {{ plan.tag }} names another state, after {{ made.loads[-1] or 'nothing' }}: somebody made it meanwhile, or it is no branch's. Run the same command {# -#}
again; if it says so once more, drop the tag first: spark-cdc tag drop branch_{{ name }}.
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if load_log is not none -%}
        {%- do spark_cdc._branch_load_log(load_log, of_log, planned | map(attribute='name') | list) -%}
    {%- endif -%}
    {%- for plan in planned -%}
        {%- do spark_cdc._branch_entity(plan) -%}
        {%- do spark_cdc._say(plan.name ~ ': branch ' ~ name ~ (' exists already' if plan.is_there else ' created') ~ ', after ' ~ plan.manifest.loads[-1] ~ ', '
            ~ spark_cdc._counted(plan.manifest.rows, 'row')) -%}
    {%- endfor -%}
    {%- for entity in empty -%}
        {%- do spark_cdc._say(entity ~ ': branch ' ~ name ~ ' created, empty: nothing is committed') -%}
    {%- endfor -%}
{%- endmacro -%}


{#- What speaks against a branch of this name. Returns a list of texts. -#}
{%- macro _new_branch_problems(name, schemas) -%}
    {%- set problems = [] -%}
    {%- for schema, of_branch in schemas.items() -%}
        {%- set itself = spark_cdc._branch_marker_of(schema) -%}
        {%- if itself is not none -%}
            {%- do problems.append(schema ~ ' is a branch of ' ~ itself.of ~ ' itself, and a branch of a branch is not made. Run it with the target of ' ~ itself.of) -%}
        {%- elif of_branch is none -%}
            {%- do problems.append('models lie in the schema ' ~ schema ~ ', which does not begin with that of the target, ' ~ target.schema
                ~ ': in the branch they would be the same. Let generate_schema_name put the target\'s schema first, as dbt\'s own does') -%}
        {%- elif of_branch in schemas -%}
            {%- do problems.append(of_branch ~ ' is production\'s schema. Take another name') -%}
        {%- else -%}
            {%- set marker = spark_cdc._branch_marker_of(of_branch) -%}
            {#- an empty one for claims may be of a command that was killed -#}
            {%- if marker is none and (spark_cdc._has_schema(of_branch)
                    or spark_cdc._relations_in(spark_cdc._branch_marker(of_branch).schema)) -%}
                {%- do problems.append('the schema ' ~ of_branch ~ ', or ' ~ of_branch ~ '_commits, is there and is no branch. Take another name, or drop both') -%}
            {%- elif marker is not none and marker.of != schema -%}
                {%- do problems.append(of_branch ~ ' is a branch of ' ~ marker.of ~ ' already. Take another name') -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The tables and views of a schema, by one statement: a dictionary from the name to the text of
    a view, or none for a table; an empty one without the schema. -#}
{%- macro _relations_in(schema) -%}
    {%- set found = {} -%}
    {%- if spark_cdc._has_schema(schema) -%}
        {%- for row in spark_cdc._shown_in(schema) -%}
            {%- do found.update({row.tableName: spark_cdc._view_text_in(row.information) if spark_cdc._is_view_in(row.information) else none}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Whether a relation is a table. Argument: relations (of _relations_in()). -#}
{%- macro _is_table_in(relations, relation) -%}{{ return(relation.identifier in relations and relations[relation.identifier] is none) }}{%- endmacro -%}


{#- What an entity will be in a branch: the state that readers see in production, or that of the
    branch's tag, where it is there from an attempt before. Texts of views are production's, with
    the branch's relations in the place of its own, so that the YAML may have other columns by now.
    Arguments: name (of the branch), ctx (production's), branched (the branch's), relations
    and made (of production and of the branch, see _relations_in()), tag (of _branch_tags(), or
    none). Returns a dictionary, none where nothing is committed. -#}
{%- macro _planned_branch(name, ctx, branched, relations, made, tag) -%}
    {%- set entity = ctx.entity -%}
    {%- set text = tag.text if tag else relations.get(ctx.committed.identifier) -%}
    {%- if not text -%}{{ return(none) }}{%- endif -%}
    {%- set manifest = tag.manifest if tag else spark_cdc._parse_manifest(text, ctx.committed) -%}
    {%- if not manifest.loads -%}{{ return(none) }}{%- endif -%}
    {%- set copied = dict(spark_cdc._timeline_cut(manifest, manifest.loads | length, is_seen=true).items() | rejectattr(0, 'equalto', 'tag')) -%}
    {%- set tagged = {'name': 'branch_' ~ name, 'branch': name, 'entity': entity.name, 'at': spark_cdc._time_now()} -%}
    {%- set query = 'select\n    ' ~ text[text.index('/* spark_cdc manifest:'):] | trim -%}
    {%- set committed_text = spark_cdc._undo_redo_text(spark_cdc._refigured_text(query, copied), ctx, branched) -%}
    {%- set plan = {
        'problem': none,
        'name': entity.name,
        'ctx': ctx,
        'branched': branched,
        'manifest': manifest,
        'tag': spark_cdc._beside(ctx, 'tag', 'branch_' ~ name),
        'tag_text': spark_cdc._refigured_text(query, dict(copied, tag=tagged)),
        'committed_text': committed_text,
        'views': {},
        'archive': entity.events is not none and entity.events.archive and spark_cdc._is_table_in(relations, ctx.events),
        'input': entity.archive_input and spark_cdc._is_table_in(relations, ctx.input),
        'is_there': branched.committed.identifier in made,
    } -%}
    {#- where the branch has loaded since, its views are those of its own loads -#}
    {%- set is_begun = plan.is_there and spark_cdc._parse_manifest(made[branched.committed.identifier] or '', branched.committed).loads != manifest.loads -%}
    {%- for kind in spark_cdc._view_kinds() if not is_begun -%}
        {%- set view = entity.name ~ '_' ~ kind -%}
        {%- if relations.get(view) and view not in made -%}{%- do plan.views.update({view: spark_cdc._undo_redo_text(relations[view], ctx, branched)}) -%}{%- endif -%}
    {%- endfor -%}
    {%- if entity.sensitive -%}
        {{ return({'problem': entity.name ~ ': branches of entities with sensitive columns are not supported yet: leave it out (--select)'}) }}
    {%- elif plan.tag.identifier | length > 128 -%}
        {{ return({'problem': entity.name ~ ': the name ' ~ plan.tag.identifier
            ~ ' is too long for a view, accepted are 128 characters. Take a shorter one'}) }}
    {%- elif plan.is_there and not tag -%}
        {{ return({'problem': entity.name ~ ': the tag ' ~ plan.tag ~ ' of the branch is gone, so that vacuum of production may have dropped what it reads. '
            ~ 'Drop the branch and make it anew: spark-cdc branch drop ' ~ name}) }}
    {%- elif ctx.ledger.identifier not in relations -%}
        {{ return({'problem': entity.name ~ ': the table ' ~ ctx.ledger ~ ' is missing, which ' ~ ctx.committed
            ~ ' reads. Run spark-cdc verify --select ' ~ entity.name}) }}
    {%- endif -%}
    {{ return(plan) }}
{%- endmacro -%}


{#- The text of a manifest's view with another manifest of the same loads. -#}
{%- macro _refigured_text(text, manifest) -%}
    {%- set start = '/* spark_cdc manifest: ' -%}
    {%- set before, rest = text.partition(start)[0], text.partition(start)[2].partition(' */')[2] -%}
    {{ return(before ~ start ~ spark_cdc._comment_json(spark_cdc._timeline_stored(manifest)) ~ ' */' ~ rest) }}
{%- endmacro -%}


{#- The text of a view that reads relations of an entity, with those of the branch in their
    place. dbt v2 and dbt-databricks write their names with backticks, dbt-spark without. -#}
{%- macro _undo_redo_text(text, ctx, branched) -%}
    {%- set at = namespace(text=text) -%}
    {%- for relation in ['ledger', 'events', 'committed', 'load_log'] if ctx[relation] is not none -%}
        {%- set schema, identifier = ctx[relation].schema, ctx[relation].identifier -%}
        {%- set name, moved = schema ~ '.' ~ identifier, [] -%}
        {%- set plain = at.text.replace(ctx[relation] | string, name).replace(spark_cdc._quote(schema) ~ '.' ~ spark_cdc._quote(identifier), name) -%}
        {%- set pieces = plain.split(name) -%}
        {%- for piece in pieces -%}
            {%- set before = '' if loop.first else pieces[loop.index0 - 1][-1:] or ('' if loop.index0 == 1 else name[-1:]) -%}
            {%- set after = piece[:1] or ('' if loop.last else name[:1]) -%}
            {%- set is_part = before.isalnum() or after.isalnum() or before in ['_', '.', '`'] or after == '_' -%}
            {%- do moved.append(('' if loop.first else name if is_part else branched[relation] | string) ~ piece) -%}
        {%- endfor -%}
        {%- set at.text = moved | join -%}
    {%- endfor -%}
    {{ return(at.text) }}
{%- endmacro -%}


{#- Makes an entity of a branch, or what is missing of it. -#}
{%- macro _branch_entity(plan) -%}
    {%- set entity, branched = plan.ctx.entity, plan.branched -%}
    {%- if not plan.is_there -%}
        {%- do spark_cdc._branch_table(
            plan.ctx.ledger, branched.ledger, entity.file_format, ['business_date', 'load_id', 'operation'], ['key_hash', 'nonkey_hash'],
            {'definition': plan.manifest.definition}) -%}
        {%- if plan.archive -%}
            {%- do spark_cdc._branch_table(plan.ctx.events, branched.events, entity.file_format, ['business_date', 'load_id'], ['key_hash', 'event_hash']) -%}
        {%- endif -%}
        {%- if plan.input -%}
            {%- do spark_cdc._branch_table(plan.ctx.input, branched.input, entity.file_format, ['business_date', 'load_id'], []) -%}
        {%- endif -%}
        {%- do spark_cdc._make_view(branched.committed, plan.committed_text) -%}
    {%- endif -%}
    {%- for identifier, text in plan.views.items() -%}
        {%- do spark_cdc._make_view(spark_cdc._relation_in(plan.branched.schema, identifier), text) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Makes what a branch has in the place of a table of production: a table of its own, and the
    view on both. Arguments: table (production's), view (the branch's), file_format, partitions,
    hashes as of _create_table_sql(), more (that the view's comment says, see
    _branch_table_text()). -#}
{%- macro _branch_table(table, view, file_format, partitions, hashes, more={}) -%}
    {%- set columns, names = [], [] -%}
    {%- for column in adapter.get_columns_in_relation(table) -%}
        {%- do columns.append({'name': column.name, 'dtype': column.dtype, 'data_type': column.dtype, 'at_sql': spark_cdc._quote(column.name)}) -%}
        {%- do names.append(column.name | lower) -%}
    {%- endfor -%}
    {%- set origin = dict(more, of={'schema': table.schema, 'name': table.identifier}, columns=names) -%}
    {%- set own = spark_cdc._relation_in(view.schema, view.identifier ~ '_own') -%}
    {%- do spark_cdc._send(spark_cdc._create_table_sql(own, columns, file_format, partitions, hashes)) -%}
    {%- do spark_cdc._make_view(view, spark_cdc._branch_table_text(view, origin, columns)) -%}
{%- endmacro -%}


{#- Makes cdc_loads of a branch, the relation `view`: rows of its own, and production's of these
    entities up to now. Of an entity that is there already nothing changes. -#}
{%- macro _branch_load_log(load_log, view, entities) -%}
    {%- if not entities or not spark_cdc._is_there(load_log) -%}{{ return('') }}{%- endif -%}
    {%- set now = spark_cdc._query('select unix_micros(current_timestamp()) as now')[0].now | int -%}
    {%- set known = spark_cdc._branch_origin(spark_cdc._view_text(view)) if spark_cdc._is_there(view) else none -%}
    {%- set until = dict.fromkeys(entities, now) -%}
    {%- do until.update(known.until if known else {}) -%}
    {%- if known is none -%}
        {%- do spark_cdc._branch_table(load_log, view, spark_cdc._load_log_format(), spark_cdc._partition_names(view), [], {'until': until}) -%}
    {%- elif until != known.until -%}
        {%- set columns = adapter.get_columns_in_relation(spark_cdc._relation_in(view.schema, view.identifier ~ '_own')) -%}
        {%- do spark_cdc._send(spark_cdc._replace_view_sql(view, spark_cdc._branch_table_text(view, dict(known, until=until), columns), true)) -%}
    {%- endif -%}
{%- endmacro -%}


{#- A part of state(): the branches of each entity, by what they have that production lacks: a
    list of dictionaries with branch, entity, schema (of the branch), of (production's), at (UTC,
    when it was made), from_load (the last of production's loads in it) and until (its business
    time), is_there (whether the branch still has the entity), dates (business times of loads of
    its own that count), behind (loads that production has committed since). -#}
{%- macro _state_branches(found) -%}
    {%- set named, told, schemas = {}, {}, found.contexts | map(attribute='schema') | unique | list -%}
    {%- for ctx in found.contexts -%}
        {%- do named.update({ctx.entity.name: ctx}) -%}
        {%- do told.update({ctx.entity.name: []}) -%}
    {%- endfor -%}
    {%- set tags = spark_cdc._branch_tags(schemas) | selectattr('entity', 'in', named) | list -%}
    {%- set mapped = {} -%}
    {%- for tag in tags -%}{%- do mapped.update({tag.view | string: spark_cdc._branch_schemas(tag.name, [tag.schema])[tag.schema]}) -%}{%- endfor -%}
    {%- set texts = spark_cdc._committed_texts(mapped.values() | list + (schemas if tags else [])) -%}
    {%- for tag in tags -%}
        {%- set ctx, schema = named[tag.entity], mapped[tag.view | string] -%}
        {%- set loads = {} -%}
        {%- for place in [schema, tag.schema] -%}
            {%- set text = texts.get(place ~ '.' ~ ctx.committed.identifier) -%}
            {%- do loads.update({place: spark_cdc._parse_manifest(text, ctx.committed).loads if text else none}) -%}
        {%- endfor -%}
        {%- set own, last = [], tag.manifest.loads[-1] -%}
        {%- for load_id in loads[schema] or [] if load_id not in tag.manifest.loads and not spark_cdc._load_kind(load_id).is_compacted -%}
            {%- do own.append(load_id) -%}
        {%- endfor -%}
        {%- do told[tag.entity].append({
            'branch': tag.name, 'entity': tag.entity, 'schema': schema, 'of': tag.schema, 'at': tag.manifest.tag.at, 'from_load': last,
            'until': spark_cdc._load_time_text(ctx.entity, last), 'is_there': loads[schema] is not none, 'dates': spark_cdc._load_times(ctx.entity, own),
            'behind': (loads[tag.schema] or []) | reject('in', tag.manifest.loads) | list | length,
        }) -%}
    {%- endfor -%}
    {{ return(told) }}
{%- endmacro -%}
