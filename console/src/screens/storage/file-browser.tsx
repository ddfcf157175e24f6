/** One folder of a bucket: folders, files, upload by button or drag. */
import { Anchor, Breadcrumbs, Button, FileButton, Group, Progress, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type DragEvent, type ReactNode, useState } from 'react';
import { type Project, useMayWrite } from '../../queries/projects';
import { type Bucket, fetchFiles, foldersQuery, type StoredFile } from '../../queries/storage';
import { useT } from '../../i18n';
import { Empty, Failure, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { FileDrawer } from './file-drawer';
import { useUploads } from './use-uploads';
import { BulkDelete, FileTable } from './file-table';

interface FileBrowserProps {
  readonly project: Project;
  readonly bucket: Bucket;
  readonly buckets: readonly Bucket[];
  /** Ends with a slash, or is empty. */
  readonly prefix: string;
  readonly onFolder: (prefix: string) => void;
  readonly menu: ReactNode;
}

export function FileBrowser({ project, bucket, buckets, prefix, onFolder, menu }: FileBrowserProps) {
  const t = useT();
  const [search, setSearch] = useState('');
  const [wanted] = useDebouncedValue(search, 250);
  const [opened, setOpened] = useState<StoredFile | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isOver, setOver] = useState(false);
  const mayWrite = useMayWrite(project);
  const place = { project, bucket: bucket.slug, prefix };
  const folders = useQuery(foldersQuery(place));
  const files = useInfiniteQuery({
    queryKey: ['files', project.id, bucket.slug, prefix, wanted],
    queryFn: ({ pageParam }) => fetchFiles(place, wanted, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
  });
  const uploads = useUploads(place);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    if (mayWrite) uploads.start([...event.dataTransfer.files]);
  };
  const shown = files.data?.pages.flatMap((page) => page.files) ?? [];
  return (
    <div
      className="files"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="table-head">
        <Path bucket={bucket} prefix={prefix} onFolder={onFolder} />
        <Group gap="xs">
          {mayWrite ? (
            <FileButton multiple onChange={(chosen) => uploads.start(chosen)}>
              {(props) => (
                <Button size="xs" leftSection={<Icon name="upload" size={14} />} {...props}>
                  {t('upload')}
                </Button>
              )}
            </FileButton>
          ) : null}
          {menu}
        </Group>
      </div>
      <div className="table-tools">
        <TextInput
          size="xs"
          w={260}
          aria-label={t('searchFiles')}
          placeholder={t('searchFiles')}
          leftSection={<Icon name="search" size={14} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        {mayWrite && selected.size > 0 ? (
          <BulkDelete project={project} ids={[...selected]} onDone={() => setSelected(new Set())} />
        ) : null}
      </div>
      <Uploads uploads={uploads} />
      <Loaded query={files}>
        {() =>
          shown.length === 0 && (folders.data?.length ?? 0) === 0 ? (
            <Empty
              icon="upload"
              title={t('noFiles')}
              text={wanted === '' ? t('noFilesText') : t('nothingFound')}
            />
          ) : (
            <div className="page-scroll">
              <FileTable
                folders={wanted === '' ? (folders.data ?? []) : []}
                files={shown}
                prefix={prefix}
                selected={selected}
                onSelect={setSelected}
                onFolder={onFolder}
                onOpen={setOpened}
              />
              {files.hasNextPage ? (
                <Button
                  m="md"
                  size="xs"
                  variant="default"
                  loading={files.isFetchingNextPage}
                  onClick={() => void files.fetchNextPage()}
                >
                  {t('more')}
                </Button>
              ) : null}
            </div>
          )
        }
      </Loaded>
      {opened ? (
        <FileDrawer
          key={opened.id}
          project={project}
          file={opened}
          buckets={buckets}
          onClose={() => setOpened(null)}
        />
      ) : null}
    </div>
  );
}

function Path({ bucket, prefix, onFolder }: Pick<FileBrowserProps, 'bucket' | 'prefix' | 'onFolder'>) {
  const parts = prefix.split('/').filter((part) => part !== '');
  return (
    <Breadcrumbs separatorMargin={4}>
      <Anchor component="button" fw={600} onClick={() => onFolder('')}>
        {bucket.name}
      </Anchor>
      {parts.map((part, index) => (
        <Anchor
          key={index}
          component="button"
          dir="auto"
          onClick={() => onFolder(`${parts.slice(0, index + 1).join('/')}/`)}
        >
          {part}
        </Anchor>
      ))}
    </Breadcrumbs>
  );
}

function Uploads({ uploads }: { uploads: ReturnType<typeof useUploads> }) {
  const t = useT();
  if (uploads.list.length === 0) return null;
  return (
    <div className="uploads" aria-live="polite">
      {uploads.list.map(({ id, name, part, error }) => (
        <div key={id}>
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Text size="xs" truncate>
              {name}
            </Text>
            {error ? (
              <Button size="compact-xs" variant="subtle" onClick={() => uploads.dismiss(id)}>
                {t('close')}
              </Button>
            ) : null}
          </Group>
          {error ? <Failure error={error} /> : <Progress size="sm" value={part * 100} aria-label={name} />}
        </div>
      ))}
      {uploads.isRunning ? (
        <Button size="compact-xs" variant="default" onClick={uploads.cancel}>
          {t('cancel')}
        </Button>
      ) : null}
    </div>
  );
}
