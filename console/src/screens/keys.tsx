/** The keys of a project, with its endpoints and database URL. */
import { Button, Checkbox, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../api/client';
import { PLINTH_URL } from '../api/base-url';
import { forgetCredentials } from '../api/identity';
import { type Project, useMay, useProject } from '../queries/projects';
import { useT } from '../i18n';
import { useActionDialog } from '../ui/action-dialog';
import { announce, Failure } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { Confirm, Page, Secret, Section, Snippet } from '../ui/parts';
import { ApiKeys } from './api-keys';
import { S3Keys } from './s3-keys';

export function KeysScreen() {
  const t = useT();
  const project = useProject();
  const mayReadKeys = useMay(project, 'GET /admin/v1/projects/:id/keys');
  const mayReadApiKeys = useMay(project, 'GET /admin/v1/projects/:id/api-keys');
  const mayReadS3Keys = useMay(project, 'GET /admin/v1/projects/:id/s3-keys');
  return (
    <Page title={t('keys')} text={t('keysScreenText')}>
      <Stack gap="md" maw={820}>
        {mayReadKeys ? <Keys key={project.id} project={project} /> : null}
        {mayReadApiKeys ? <ApiKeys key={`${project.id} api`} project={project} /> : null}
        {mayReadS3Keys ? <S3Keys key={`${project.id} s3`} project={project} /> : null}
        <Connection key={`${project.id} connection`} project={project} />
      </Stack>
    </Page>
  );
}

/** Each access to the keys is in the audit log, so they are fetched only on request. */
function Keys({ project }: { project: Project }) {
  const t = useT();
  const [isRotating, dialog] = useActionDialog('rotate');
  const mayRotate = useMay(project, 'POST /admin/v1/projects/:id/keys/rotate');
  const params = { params: { path: { id: project.id } } };
  const keys = useMutation({ mutationFn: () => dataOf(api.GET('/admin/v1/projects/{id}/keys', params)) });
  return (
    <Section title={t('keys')} text={t('keysText')}>
      <Stack gap="sm">
        {keys.data ? (
          <>
            <Secret label="anon" value={keys.data.anon_key} hint={t('anonHint')} />
            <Secret label="service_role" value={keys.data.service_role_key} hint={t('serviceHint')} />
            <Secret label="jwt_secret" value={keys.data.jwt_secret} hint={t('jwtHint')} />
            {keys.data.signing_keys.map(({ kid, algorithm, status }) => (
              <Text key={kid} size="sm" ff="monospace">
                {`${algorithm} ${kid} · ${t(`signingKey_${status}`)}`}
              </Text>
            ))}
          </>
        ) : null}
        {keys.error ? <Failure error={keys.error} /> : null}
        <Group gap="xs">
          {keys.data ? (
            <Button variant="default" onClick={keys.reset} leftSection={<Icon name="eyeOff" size={16} />}>
              {t('hideKeys')}
            </Button>
          ) : (
            <Button
              variant="default"
              loading={keys.isPending}
              onClick={() => keys.mutate()}
              leftSection={<Icon name="eye" size={16} />}
            >
              {t('showKeys')}
            </Button>
          )}
          {mayRotate ? (
            <Button variant="default" onClick={dialog.open} leftSection={<Icon name="refresh" size={16} />}>
              {t('rotate')}
            </Button>
          ) : null}
        </Group>
      </Stack>
      {isRotating ? <Rotation project={project} onClose={dialog.close} onRotated={keys.reset} /> : null}
    </Section>
  );
}

interface RotationProps {
  readonly project: Project;
  readonly onClose: () => void;
  readonly onRotated: () => void;
}

function Rotation({ project, onClose, onRotated }: RotationProps) {
  const t = useT();
  const [hours, setHours] = useState<number | string>(24);
  const [isOnlySigning, setOnlySigning] = useState(false);
  const [endsNamed, setEndsNamed] = useState(false);
  return (
    <Confirm
      title={t('rotateTitle')}
      text={t('rotateText')}
      action={t('rotate')}
      typed={Number(hours) === 0 ? project.slug : undefined}
      onClose={onClose}
      run={async () => {
        await api.POST('/admin/v1/projects/{id}/keys/rotate', {
          params: { path: { id: project.id } },
          body: {
            grace_seconds: Math.round(Number(hours) * 3600),
            ...(isOnlySigning ? { only: 'signing_keys' } : { end_named_keys: endsNamed }),
          },
        });
        forgetCredentials();
        onRotated();
        announce(t('rotated', { name: project.name }));
      }}
    >
      <NumberInput
        label={t('graceHours')}
        description={t('graceHint')}
        min={0}
        max={720}
        value={hours}
        onChange={setHours}
      />
      <Checkbox
        mt="sm"
        label={t('rotateNamed')}
        checked={endsNamed}
        disabled={isOnlySigning}
        onChange={(event) => setEndsNamed(event.currentTarget.checked)}
      />
      {project.settings.jwt_algorithm === 'HS256' ? null : (
        <Checkbox
          mt="sm"
          label={t('onlySigningKeys')}
          description={t('onlySigningKeysHint')}
          checked={isOnlySigning}
          onChange={(event) => setOnlySigning(event.currentTarget.checked)}
        />
      )}
    </Confirm>
  );
}

function Connection({ project }: { project: Project }) {
  const t = useT();
  const mayConnect = useMay(project, 'GET /admin/v1/projects/:id/database');
  const database = useMutation({
    mutationFn: () =>
      dataOf(api.GET('/admin/v1/projects/{id}/database', { params: { path: { id: project.id } } })),
  });
  return (
    <Section title={t('addresses')} text={t('addressesText')}>
      <Stack gap="sm">
        <Address label={t('tableRest')} url={`${PLINTH_URL}/p/${project.slug}/rest/v1`} />
        <Address label={t('auth')} url={`${PLINTH_URL}/v1/auth/${project.id}`} />
        <Address label={t('storage')} url={`${PLINTH_URL}/p/${project.slug}/storage`} />
        {database.data ? <Secret label={t('ownerUrl')} value={database.data.owner_url} /> : null}
        {database.error ? <Failure error={database.error} /> : null}
        {mayConnect ? (
          <Group>
            <Button
              variant="default"
              loading={database.isPending}
              onClick={() => (database.data ? database.reset() : database.mutate())}
              leftSection={<Icon name={database.data ? 'eyeOff' : 'database'} size={16} />}
            >
              {database.data ? t('hideConnection') : t('showConnection')}
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Section>
  );
}

function Address({ label, url }: { label: string; url: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={2}>
        {label}
      </Text>
      <Snippet label={label} text={url} />
    </div>
  );
}
