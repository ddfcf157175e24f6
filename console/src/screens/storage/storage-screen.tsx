/** Buckets, and the folders and files of the chosen one. */
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
import { useState } from 'react';
import { type Project, useMayWrite, useProject } from '../../queries/projects';
import { bucketsQuery } from '../../queries/storage';
import { usageQuery } from '../../queries/inside';
import { useLanguages, useT } from '../../i18n';
import { formatBytes } from '../../lib/format';
import { Empty, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { LeaveGuard } from '../../ui/leave-guard';
import { FileBrowser } from './file-browser';
import { type BucketAction, BucketDialog } from './bucket-dialog';
import { useUploads } from './use-uploads';

const route = getRouteApi('/signed-in/projects/$slug/storage');

export function StorageScreen() {
  const t = useT();
  const project = useProject();
  const mayWrite = useMayWrite(project);
  const { bucket: slug, folder = '', search = '', file } = route.useSearch();
  const buckets = useQuery(bucketsQuery(project));
  const isNarrow = useMediaQuery('(max-width: 62em)') ?? false;
  const [action, setAction] = useState<BucketAction | null>(null);
  const uploads = useUploads(project);
  const navigate = route.useNavigate();
  return (
    <Loaded query={buckets}>
      {(list) => {
        const chosen = list.find((one) => one.slug === slug) ?? list[0];
        const add = mayWrite ? (
          <Tooltip label={t('newBucket')}>
            <ActionIcon
              variant="filled"
              color="plinth"
              aria-label={t('newBucket')}
              onClick={() => setAction({ kind: 'create' })}
            >
              <Icon name="plus" size={16} />
            </ActionIcon>
          </Tooltip>
        ) : null;
        return (
          <div className={isNarrow ? 'split split-narrow' : 'split'}>
            {isNarrow ? (
              <Group p="xs" gap="xs" wrap="nowrap">
                <Select
                  aria-label={t('buckets')}
                  flex={1}
                  data={list.map((one) => ({ value: one.slug, label: one.name }))}
                  value={chosen?.slug ?? null}
                  allowDeselect={false}
                  onChange={(bucket) => void navigate({ search: bucket === null ? {} : { bucket } })}
                />
                {add}
                <StorageUse project={project} />
              </Group>
            ) : (
              <aside className="split-side" aria-label={t('buckets')}>
                <div className="side-tools">
                  <strong>{t('buckets')}</strong>
                  {add}
                </div>
                {list.map((bucket) => (
                  <NavLink
                    key={bucket.id}
                    active={bucket === chosen}
                    renderRoot={(props) => (
                      <Link
                        from="/projects/$slug/storage"
                        to="."
                        search={{ bucket: bucket.slug }}
                        {...props}
                      />
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
            )}
            <section className="split-main">
              {chosen ? (
                <FileBrowser
                  key={`${chosen.id} ${folder}`}
                  project={project}
                  bucket={chosen}
                  buckets={list}
                  prefix={folder}
                  onFolder={(next) =>
                    void navigate({
                      search: { bucket: chosen.slug, ...(next === '' ? {} : { folder: next }) },
                    })
                  }
                  search={search}
                  onSearch={(next) =>
                    void navigate({
                      search: (old) => ({ ...old, search: next === '' ? undefined : next }),
                      replace: true,
                    })
                  }
                  openedId={file ?? null}
                  onOpen={(id) => void navigate({ search: (old) => ({ ...old, file: id ?? undefined }) })}
                  uploads={uploads}
                  menu={
                    mayWrite ? <BucketMenu onChoose={(kind) => setAction({ kind, bucket: chosen })} /> : null
                  }
                />
              ) : (
                <Empty icon="folder" title={t('noBuckets')} text={t('noBucketsText')}>
                  {mayWrite ? (
                    <Button onClick={() => setAction({ kind: 'create' })}>{t('newBucket')}</Button>
                  ) : null}
                </Empty>
              )}
            </section>
            <LeaveGuard
              changes={uploads.running}
              title={t('leaveUploads')}
              text={t('leaveUploadsText', { count: uploads.running })}
            />
            {action ? (
              <BucketDialog
                action={action}
                project={project}
                onClose={() => setAction(null)}
                onChosen={(bucket) => void navigate({ search: bucket === null ? {} : { bucket } })}
              />
            ) : null}
          </div>
        );
      }}
    </Loaded>
  );
}

/** The use of the quota, and the way to the policies of files. */
function StorageUse({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const { data } = useQuery(usageQuery(project));
  const quota = data?.quotas.find(({ name }) => name === 'storage_bytes');
  if (!quota) return null;
  const used = formatBytes(quota.used, language);
  const limit =
    quota.limit === null ? t('noLimit') : t('ofLimit', { limit: formatBytes(quota.limit, language) });
  return (
    <div className="side-foot">
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
        <Menu.Item color="red" onClick={() => onChoose('delete')}>
          {t('deleteBucket')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
