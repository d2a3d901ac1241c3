import type { Sql } from './connection.ts';

const commentMark = '-- ';

/**
 * The schema as text: extensions, then tables with columns, constraints, indexes, statistics, triggers, policies and
 * grants, then functions; sorted by name. What the database says of a table, column or function is above it as a
 * comment. Partitions are left out, because they differ from month to month.
 */
export async function dumpSchema(sql: Sql): Promise<string> {
  const extensions = await sql`
    select format('create extension %I;', extname) as text from pg_extension where extname <> 'plpgsql' order by extname`;
  const tables = await sql`
    select c.relname as name, obj_description(c.oid, 'pg_class') as comment, c.relrowsecurity as secured, c.relforcerowsecurity as forced, c.reloptions as options,
      pg_get_partkeydef(c.oid) as divided,
      (select string_agg(format('%s  %I %s%s%s',
          coalesce(${`  ${commentMark}`}::text || col_description(c.oid, a.attnum) || E'\n', ''), a.attname, format_type(a.atttypid, a.atttypmod),
          case when a.attnotnull then ' not null' else '' end, coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')),
          E',\n' order by a.attnum)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
      (select string_agg(format('  constraint %I %s', o.conname, pg_get_constraintdef(o.oid)), E',\n' order by o.conname)
        from pg_constraint o where o.conrelid = c.oid and o.contype <> 'n') as constraints,
      (select string_agg(i.indexdef || ';', E'\n' order by i.indexname) from pg_indexes i
        where i.schemaname = 'public' and i.tablename = c.relname
          and not exists (select from pg_constraint o where o.conrelid = c.oid and o.conname = i.indexname)) as indexes,
      (select string_agg(pg_get_statisticsobjdef(s.oid) || ';', E'\n' order by s.stxname) from pg_statistic_ext s
        where s.stxrelid = c.oid) as statistics,
      (select string_agg(pg_get_triggerdef(t.oid, true) || ';', E'\n' order by t.tgname) from pg_trigger t
        where t.tgrelid = c.oid and not t.tgisinternal) as triggers,
      (select string_agg(format('create policy %I on %I for %s to %s using (%s)%s;', p.policyname, p.tablename, p.cmd,
          array_to_string(p.roles, ', '), coalesce(p.qual, 'true'), coalesce(' with check (' || p.with_check || ')', '')), E'\n' order by p.policyname)
        from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname) as policies,
      (select string_agg(format('grant %s on %I to %I;', granted.privileges, c.relname, granted.grantee), E'\n' order by granted.grantee)
        from (select g.grantee, string_agg(g.privilege_type, ', ' order by g.privilege_type) as privileges
          from information_schema.role_table_grants g
          where g.table_schema = 'public' and g.table_name = c.relname and g.grantee like 'quittance\\_%'
          group by g.grantee) granted) as grants
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`;
  const functions = await sql`
    select pg_get_functiondef(p.oid) as text,
      (select string_agg(distinct a.grantee::regrole::text, ', ') from aclexplode(p.proacl) a
        where a.grantee <> p.proowner and a.grantee <> 0) as grantees,
      p.oid::regprocedure::text as name, obj_description(p.oid, 'pg_proc') as comment
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e') -- an extension's own
    order by p.proname`;
  const parts = tables.map((table) =>
    [
      `${commentLine(table.comment)}create table ${table.name} (\n${[table.columns, table.constraints].filter(Boolean).join(',\n')}\n)` +
        `${table.divided ? ` partition by ${table.divided}` : ''}` +
        `${table.options ? ` with (${table.options.join(', ')})` : ''};`,
      table.indexes,
      table.statistics,
      table.triggers,
      table.secured
        ? `alter table ${table.name} enable row level security${table.forced ? ', force row level security' : ''};`
        : null,
      table.policies,
      table.grants,
    ]
      .filter(Boolean)
      .join('\n'),
  );
  const header = '-- Generated from the migrations by `npm run schema`; do not edit.';
  const extended = extensions.map(({ text }) => text).join('\n');
  return `${[header, extended, ...parts, ...functions.map(functionText)].filter(Boolean).join('\n\n')}\n`;
}

const commentLine = (comment: string | null) => (comment === null ? '' : `${commentMark}${comment}\n`);

const functionText = ({ text, grantees, name, comment = null }: Record<string, string | null>) =>
  `${commentLine(comment)}${text?.trim()};${grantees ? `\ngrant execute on function ${name} to ${grantees};` : ''}`;
