/** The shipped policies of buckets and files (docs/reference/storage.md, "Policies"). A project may replace them. */
export const STORAGE_POLICIES = `
  -- True while the bucket exists, for every caller.
  create function storage.bucket_exists(bucket uuid) returns boolean
    language sql stable security definer set search_path = ''
    as $$ select exists (select from storage.buckets b where b.id = bucket) $$;

  create policy "the service role can do everything" on storage.buckets to service_role using (true) with check (true);
  create policy "anyone can read public buckets" on storage.buckets for select to anon, authenticated
    using (is_public);
  create policy "users can read their own and project buckets" on storage.buckets for select to authenticated
    using (owner_id = (select auth.uid()) or owner_id is null);
  create policy "users can create buckets" on storage.buckets for insert to authenticated
    with check (owner_id = (select auth.uid()));
  create policy "users can change their own buckets" on storage.buckets for update to authenticated
    using (owner_id = (select auth.uid())) with check (owner_id = (select auth.uid()));
  create policy "users can delete their own buckets" on storage.buckets for delete to authenticated
    using (owner_id = (select auth.uid()));

  create policy "the service role can do everything" on storage.files to service_role using (true) with check (true);
  create policy "anonymous callers can read files in public buckets" on storage.files for select to anon
    using (exists (select from storage.buckets b where b.id = bucket_id and b.is_public));
  -- One policy for all that a user reads: an upload returns its row, and so executes the subqueries of all select policies.
  create policy "users can read their files and files in their or public buckets" on storage.files for select to authenticated
    using (owner_id = (select auth.uid()) or exists (
      select from storage.buckets b where b.id = bucket_id and (b.owner_id = (select auth.uid()) or b.is_public)));
  create policy "users can upload into their own and project buckets" on storage.files for insert to authenticated
    with check (owner_id = (select auth.uid()) and exists (
      select from storage.buckets b where b.id = bucket_id and (b.owner_id = (select auth.uid()) or b.owner_id is null)));
  -- A file without a bucket may be changed in place; any other must end in a bucket into which its owner may upload.
  create policy "users can change their files and files in their buckets" on storage.files for update to authenticated
    using (owner_id = (select auth.uid())
      or exists (select from storage.buckets b where b.id = bucket_id and b.owner_id = (select auth.uid())))
    with check (
      exists (select from storage.buckets b where b.id = bucket_id
        and (b.owner_id = (select auth.uid()) or (b.owner_id is null and files.owner_id = (select auth.uid()))))
      or (owner_id = (select auth.uid()) and not storage.bucket_exists(bucket_id)));
  create policy "users can delete their files and files in their buckets" on storage.files for delete to authenticated
    using (owner_id = (select auth.uid())
      or exists (select from storage.buckets b where b.id = bucket_id and b.owner_id = (select auth.uid())));

  -- Whether the caller may upload: 'yes', 'no', or 'depends' when a policy reads columns that only the body determines.
  -- PostgreSQL checks row-level security before NOT NULL, NOT NULL before check constraints, and constraints before it
  -- writes. So an insert that violates a constraint on purpose is checked by the policies and writes nothing. The row
  -- has no object_id; if a trigger of the project fills it in, the negative size still violates a check constraint.
  create function storage.may_upload(bucket uuid, name text) returns text language plpgsql as $$
  declare
    violated text;
  begin
    insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
      values (bucket, name, 'application/octet-stream', -1, repeat('0', 64), auth.uid(), null);
    return 'yes';
  exception
    when not_null_violation then
      get stacked diagnostics violated = column_name;
      if violated = 'object_id' then
        return 'yes';
      end if;
      raise;
    when check_violation then
      get stacked diagnostics violated = constraint_name;
      if violated = 'files_00_is_no_trial' then
        return 'yes';
      end if;
      raise;
    when insufficient_privilege then
      return case when exists (
        select from pg_catalog.pg_depend d
          join pg_catalog.pg_policy p on p.oid = d.objid and p.polcmd in ('a', '*')
          join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where d.classid = 'pg_catalog.pg_policy'::regclass and d.refobjid = 'storage.files'::regclass
          and a.attname in ('filename', 'content_type', 'size', 'sha256', 'metadata')
      ) then 'depends' else 'no' end;
  end $$;
`;
