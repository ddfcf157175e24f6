-- A bucket for photos of at most 25 MiB. The policies of every project let signed-in users upload into it, and read and
-- delete the files that they own.
insert into storage.buckets (name, slug, file_size_limit, allowed_mime_types)
  values ('photos', 'photos', 26214400, array['image/jpeg', 'image/png', 'image/webp', 'image/avif', 'image/gif']);
