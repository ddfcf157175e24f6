/** Buckets, and the folders and files of the selected bucket. */
import {
  ActionIcon,
  Anchor,
  Badge,
  Button,
  Group,
  Menu,
  NavLink,
  Progress,
  Select,
  Text,
  Tooltip,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Project, useMayWrite, useProject } from '../../queries/projects';
import { type Bucket, bucketsQuery } from '../../queries/storage';
import { usageQuery } from '../../queries/inside';
import { useLanguages, useT } from '../../i18n';
import { formatBytes } from '../../lib/format';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { LeaveGuard } from '../../ui/leave-guard';
import { FileBrowser, type FileBrowserProps } from './file-browser';
import { type BucketAction, BucketDialog } from './bucket-dialog';
import { useUploads } from './use-uploads';
import splitStyles from '../../ui/split.module.css';

const route = getRouteApi('/signed-in/projects/$slug/storage');

export function StorageScreen() {
  const project = useProject();
  const buckets = useQuery(bucketsQuery(project));
  return <Loaded query={buckets}>{(list) => <Storage project={project} buckets={list} />}</Loaded>;
}

function Storage({ project, buckets }: { project: Project; buckets: readonly Bucket[] }) {
  const t = useT();
  const mayWrite = useMayWrite(project);
  const { bucket: slug } = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useMediaQuery('(max-width: 62em)') ?? false;
  const [action, setAction] = useState<BucketAction | null>(null);
  const uploads = useUploads(project);
  const chosen = buckets.find((one) => one.slug === slug) ?? buckets[0];
  const create = (): void => setAction({ kind: 'create' });
  const choose = (bucket: string | null): void =>
    void navigate({ search: bucket === null ? {} : { bucket } });
  const list = { project, buckets, chosen, add: mayWrite ? <AddBucket onClick={create} /> : null };
  return (
    <div className={isNarrow ? `${splitStyles.split} ${splitStyles.narrow}` : splitStyles.split}>
      {isNarrow ? <BucketSelect {...list} onChoose={choose} /> : <BucketList {...list} />}
      <section className={splitStyles.main}>
        {chosen ? (
          <Files
            project={project}
            bucket={chosen}
            buckets={buckets}
            uploads={uploads}
            menu={mayWrite ? <BucketMenu onChoose={(kind) => setAction({ kind, bucket: chosen })} /> : null}
          />
        ) : (
          <Empty icon="folder" title={t('noBuckets')} text={t('noBucketsText')}>
            {mayWrite ? <Button onClick={create}>{t('newBucket')}</Button> : null}
          </Empty>
        )}
      </section>
      <LeaveGuard
        changes={uploads.running}
        title={t('leaveUploads')}
        text={t('leaveUploadsText', { count: uploads.running })}
      />
      {action ? (
        <BucketDialog action={action} project={project} onClose={() => setAction(null)} onChosen={choose} />
      ) : null}
    </div>
  );
}

function AddBucket({ onClick }: { onClick: () => void }) {
  const t = useT();
  return (
    <Tooltip label={t('newBucket')}>
      <ActionIcon variant="default" aria-label={t('newBucket')} onClick={onClick}>
        <Icon name="plus" size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

interface BucketListProps {
  readonly project: Project;
  readonly buckets: readonly Bucket[];
  readonly chosen: Bucket | undefined;
  readonly add: ReactNode;
}

/** The list of buckets in a narrow window. */
function BucketSelect({
  project,
  buckets,
  chosen,
  add,
  onChoose,
}: BucketListProps & { readonly onChoose: (bucket: string | null) => void }) {
  const t = useT();
  return (
    <Group p="xs" gap="xs" wrap="nowrap">
      <Select
        aria-label={t('buckets')}
        flex={1}
        data={buckets.map((one) => ({ value: one.slug, label: one.name }))}
        value={chosen?.slug ?? null}
        allowDeselect={false}
        onChange={onChoose}
      />
      {add}
      <StorageUse project={project} />
    </Group>
  );
}

function BucketList({ project, buckets, chosen, add }: BucketListProps) {
  const t = useT();
  return (
    <aside className={splitStyles.side} aria-label={t('buckets')}>
      <div className={splitStyles.sideTools}>
        <strong>{t('buckets')}</strong>
        {add}
      </div>
      {buckets.map((bucket) => (
        <NavLink
          key={bucket.id}
          active={bucket === chosen}
          renderRoot={(props) => (
            <Link from="/projects/$slug/storage" to="." search={{ bucket: bucket.slug }} {...props} />
          )}
          label={bucket.name}
          leftSection={<Icon name="folder" size={16} />}
          rightSection={
            bucket.is_public ? (
              <Badge size="xs" variant="light">
                {t('public')}
              </Badge>
            ) : null
          }
        />
      ))}
      <StorageUse project={project} />
    </aside>
  );
}

type FilesProps = Pick<FileBrowserProps, 'project' | 'bucket' | 'buckets' | 'uploads' | 'menu'>;

/** The folder, the search and the opened file are in the address. */
function Files(props: FilesProps) {
  const { folder = '', search = '', file } = route.useSearch();
  const navigate = route.useNavigate();
  const { id, slug } = props.bucket;
  return (
    <FileBrowser
      key={`${id} ${folder}`}
      {...props}
      prefix={folder}
      onFolder={(next) =>
        void navigate({ search: { bucket: slug, ...(next === '' ? {} : { folder: next }) } })
      }
      search={search}
      onSearch={(next) =>
        void navigate({
          search: (old) => ({ ...old, search: next === '' ? undefined : next }),
          replace: true,
        })
      }
      openedId={file ?? null}
      onOpen={(opened) => void navigate({ search: (old) => ({ ...old, file: opened ?? undefined }) })}
    />
  );
}

/** The use of the quota, and a link to the policies of files. */
function StorageUse({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const { data } = useQuery(usageQuery(project));
  const quota = data?.quotas.find(({ name }) => name === 'storage_bytes');
  if (!quota) return null;
  const used = formatBytes(quota.used, language);
  const limit =
    quota.limit === null ? t('noLimit') : t('ofLimit', { limit: formatBytes(quota.limit, language) });
  return (
    <div className={splitStyles.sideFoot}>
      <Text size="xs" c="dimmed">
        {used} · {limit}
      </Text>
      {quota.limit === null ? null : (
        <Progress
          size="sm"
          value={Math.min(100, (quota.used / Math.max(quota.limit, 1)) * 100)}
          aria-label={t('use_storage_bytes')}
        />
      )}
      <Anchor
        size="xs"
        renderRoot={(props) => (
          <Link
            to="/projects/$slug/policies"
            params={{ slug: project.slug }}
            search={{ all: '1', search: 'storage.' }}
            {...props}
          />
        )}
      >
        {t('policies')}
      </Anchor>
    </div>
  );
}

function BucketMenu({ onChoose }: { onChoose: (kind: 'edit' | 'delete') => void }) {
  const t = useT();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" aria-label={t('bucketActions')}>
          <Icon name="dots" size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onChoose('edit')}>{t('editBucket')}</Menu.Item>
        <Menu.Item c="var(--mantine-color-error)" onClick={() => onChoose('delete')}>
          {t('deleteBucket')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
