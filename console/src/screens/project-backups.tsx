/** Backups of a project: download, schedule, run now, and the last runs. */
import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { assertOk, send } from '../api/client';
import { PLINTH_URL } from '../api/base-url';
import { isOfInstall, mayAdminister, sessionHeaders, useSession } from '../api/session';
import { type Project, useMay, useProject } from '../queries/projects';
import { useLanguages } from '../i18n';
import { formatBytes } from '../lib/format';
import { Dialog } from '../ui/dialog';
import { Failure } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { FormButtons, Page } from '../ui/parts';
import { streamToFile } from '../lib/stream-to-file';
import { saveFile } from '../ui/save-file';
import { Runs, Schedule } from './backup-schedule';
import { RestoreRow } from './restore-row';

const ROWS = 'GET /admin/v1/projects/:id/backups/:backup_id/tables/:table/rows';

export function BackupsScreen() {
  const { t } = useLanguages();
  const project = useProject();
  const session = useSession();
  const [isDownloading, dialog] = useDisclosure();
  const mayDownload = mayAdminister(session, project.id);
  const mayReadRows = useMay(project, ROWS);
  return (
    <Page
      title={t('backups')}
      text={t('backupsText')}
      actions={
        mayDownload ? (
          <Button variant="default" leftSection={<Icon name="download" size={16} />} onClick={dialog.open}>
            {t('downloadBackup')}
          </Button>
        ) : null
      }
    >
      <Stack gap="lg">
        {isOfInstall(session) ? (
          <Stack gap="md">
            <Schedule project={project} />
            <Runs project={project} />
          </Stack>
        ) : (
          <Text size="sm" c="dimmed">
            {t(mayDownload ? 'schedulesOfOperators' : 'backupsRefused')}
          </Text>
        )}
        {mayReadRows ? <RestoreRow project={project} /> : null}
      </Stack>
      {isDownloading ? <Download project={project} onClose={dialog.close} /> : null}
    </Page>
  );
}

const MIN_PASSPHRASE_CHARACTERS = 12;

function Download({ project, onClose }: { project: Project; onClose: () => void }) {
  const { t, language } = useLanguages();
  const client = useQueryClient();
  const [received, setReceived] = useState(0);
  const [passphrase, setPassphrase] = useState('');
  const download = useMutation({
    mutationFn: async () => {
      const url = `${PLINTH_URL}/admin/v1/projects/${encodeURIComponent(project.id)}/backup`;
      const headers = { ...sessionHeaders(), 'Backup-Passphrase': encodeURIComponent(passphrase) };
      const response = await assertOk(await send(new Request(url, { headers, credentials: 'same-origin' })));
      const file = await streamToFile(response.body!, 'application/gzip', setReceived);
      saveFile(file, `${project.slug}.tar.gz`);
      await client.invalidateQueries({ queryKey: ['overview', project.id] });
    },
  });
  return (
    <Dialog onClose={onClose} title={t('downloadBackupOf', { name: project.name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          download.mutate(undefined, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          <Text size="sm">{t('downloadBackupText', { slug: project.slug })}</Text>
          <PasswordInput
            label={t('passphrase')}
            description={t('passphraseHint', { count: MIN_PASSPHRASE_CHARACTERS })}
            autoComplete="new-password"
            value={passphrase}
            onChange={(event) => setPassphrase(event.currentTarget.value)}
            data-autofocus
          />
          {download.isPending ? (
            <Text size="sm" aria-live="polite">
              {formatBytes(received, language)}
            </Text>
          ) : null}
          {download.error ? <Failure error={download.error} /> : null}
          <FormButtons
            action={t('downloadBackup')}
            isPending={download.isPending}
            isDisabled={passphrase.length < MIN_PASSPHRASE_CHARACTERS}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
