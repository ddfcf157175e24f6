/** One folder of a bucket: folders, files, upload by button or drag. */
import {
  Anchor,
  Breadcrumbs,
  Button,
  FileButton,
  Group,
  Popover,
  Progress,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type DragEvent, type ReactNode, useState } from 'react';
import { type Project, useMayWrite } from '../../queries/projects';
import { type Bucket, fetchFiles, fileQuery, foldersQuery, type StoredFile } from '../../queries/storage';
import { useT } from '../../i18n';
import { AddressInput } from '../../ui/address-input';
import { Empty, Failure, Loaded, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { DetailDrawer } from '../../ui/parts';
import { FileDrawer } from './file-drawer';
import { droppedFiles, type NamedFile, toNamed } from './dropped-files';
import type { Uploads } from './use-uploads';
import { BulkDelete, FileTable } from './file-table';
import styles from './storage.module.css';
import splitStyles from '../../ui/split.module.css';
import pageStyles from '../../ui/page.module.css';

export interface FileBrowserProps {
  readonly project: Project;
  readonly bucket: Bucket;
  readonly buckets: readonly Bucket[];
  /** Ends with a slash, or is empty. */
  readonly prefix: string;
  readonly onFolder: (prefix: string) => void;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly openedId: string | null;
  readonly onOpen: (id: string | null) => void;
  readonly uploads: Uploads;
  readonly menu: ReactNode;
}

export function FileBrowser(props: FileBrowserProps) {
  const { project, bucket, buckets, prefix, onFolder, search, onSearch, openedId, onOpen, uploads } = props;
  const t = useT();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isOver, setOver] = useState(false);
  const mayWrite = useMayWrite(project);
  const { folders, files, shown, isSearch } = useFolder(props);
  const start = (chosen: readonly NamedFile[]): void => uploads.start(bucket.slug, prefix, chosen);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    if (mayWrite) void droppedFiles(event.dataTransfer).then(start);
  };
  return (
    <div
      className={styles.files}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <FolderHead {...props} onFiles={mayWrite ? start : null} />
      <div className={splitStyles.tools}>
        <AddressInput
          size="xs"
          w={260}
          aria-label={t('searchFiles')}
          placeholder={t('searchFiles')}
          leftSection={<Icon name="search" size={14} />}
          value={search}
          onText={onSearch}
        />
        {mayWrite && selected.size > 0 ? (
          <BulkDelete project={project} ids={[...selected]} onDone={() => setSelected(new Set())} />
        ) : null}
      </div>
      <UploadList uploads={uploads} />
      <Loaded query={files}>
        {() =>
          shown.length === 0 && (folders.data?.length ?? 0) === 0 ? (
            <Empty icon="upload" title={t('noFiles')} text={t(isSearch ? 'nothingFound' : 'noFilesText')} />
          ) : (
            <div className={pageStyles.scroll}>
              <FileTable
                folders={isSearch ? [] : (folders.data ?? [])}
                files={shown}
                prefix={prefix}
                selected={selected}
                onSelect={setSelected}
                onFolder={onFolder}
                onOpen={({ id }) => onOpen(id)}
              />
              <MoreFiles files={files} />
            </div>
          )
        }
      </Loaded>
      {openedId === null ? null : (
        <OpenedFile
          project={project}
          id={openedId}
          known={shown.find(({ id }) => id === openedId)}
          buckets={buckets}
          onClose={() => onOpen(null)}
        />
      )}
    </div>
  );
}

function useFolder({ project, bucket, prefix, search }: FileBrowserProps) {
  const [wanted] = useDebouncedValue(search, 250);
  const place = { project, bucket: bucket.slug, prefix };
  const folders = useQuery(foldersQuery(place));
  const files = useInfiniteQuery({
    queryKey: ['files', project.id, bucket.slug, prefix, wanted],
    queryFn: ({ pageParam }) => fetchFiles(place, wanted, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursor }) => cursor,
  });
  const shown = files.data?.pages.flatMap((page) => page.files) ?? [];
  return { folders, files, shown, isSearch: wanted !== '' };
}

interface FolderHeadProps extends Pick<FileBrowserProps, 'bucket' | 'prefix' | 'onFolder' | 'menu'> {
  /** Null if files cannot be uploaded. */
  readonly onFiles: ((files: readonly NamedFile[]) => void) | null;
}

function FolderHead({ bucket, prefix, onFolder, menu, onFiles }: FolderHeadProps) {
  const t = useT();
  return (
    <div className={splitStyles.head}>
      <Path bucket={bucket} prefix={prefix} onFolder={onFolder} />
      <Group gap="xs">
        {onFiles ? (
          <>
            <NewFolder onCreate={(name) => onFolder(`${prefix}${name}/`)} />
            <FileButton multiple onChange={(chosen) => onFiles(chosen.map(toNamed))}>
              {(props) => (
                <Button size="xs" leftSection={<Icon name="upload" size={14} />} {...props}>
                  {t('upload')}
                </Button>
              )}
            </FileButton>
          </>
        ) : null}
        {menu}
      </Group>
    </div>
  );
}

function MoreFiles({ files }: { files: ReturnType<typeof useFolder>['files'] }) {
  const t = useT();
  if (!files.hasNextPage) return null;
  return (
    <Button
      m="md"
      size="xs"
      variant="default"
      loading={files.isFetchingNextPage}
      onClick={() => void files.fetchNextPage()}
    >
      {t('more')}
    </Button>
  );
}

/** Folders are parts of file names, so a new folder exists only once a file is uploaded into it. */
function NewFolder({ onCreate }: { onCreate: (name: string) => void }) {
  const t = useT();
  const [isOpen, popover] = useDisclosure();
  const [name, setName] = useState('');
  const wanted = name.replace(/^\/+|\/+$/g, '');
  return (
    <Popover opened={isOpen} onChange={popover.toggle} position="bottom-end" trapFocus shadow="md">
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="folder" size={14} />}
          onClick={popover.toggle}
        >
          {t('newFolder')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (wanted !== '') onCreate(wanted);
          }}
        >
          <Group gap="xs" align="end">
            <TextInput
              label={t('name')}
              description={t('newFolderHint')}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              data-autofocus
            />
            <Button type="submit" disabled={wanted === ''}>
              {t('openFolder')}
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

interface OpenedFileProps {
  readonly project: Project;
  readonly id: string;
  readonly known: StoredFile | undefined;
  readonly buckets: readonly Bucket[];
  readonly onClose: () => void;
}

/** The file that the address names. It need not be in the folder that is shown. */
function OpenedFile({ project, id, known, buckets, onClose }: OpenedFileProps) {
  const t = useT();
  const query = useQuery({ ...fileQuery(project, id), enabled: known === undefined });
  const file = known ?? query.data;
  if (file) return <FileDrawer key={id} project={project} file={file} buckets={buckets} onClose={onClose} />;
  return (
    <DetailDrawer title={t('file')} onClose={onClose}>
      {query.error ? <Failure error={query.error} onRetry={() => void query.refetch()} /> : <Loading />}
    </DetailDrawer>
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

function UploadList({ uploads }: { uploads: Uploads }) {
  const t = useT();
  if (uploads.list.length === 0) return null;
  return (
    <div className={styles.uploads} aria-live="polite">
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
      {uploads.running > 0 ? (
        <Button size="compact-xs" variant="default" onClick={uploads.cancel}>
          {t('cancel')}
        </Button>
      ) : null}
    </div>
  );
}
