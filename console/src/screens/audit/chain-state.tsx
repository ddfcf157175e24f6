/** Verifies the chain of hashes slice by slice, and shows the outcome. */
import { Alert, Button, Group, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schema } from '../../api/client';
import { useT } from '../../i18n';
import { Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';

type Slice = Schema<'AuditVerification'>;
type Outcome = Pick<Slice, 'checked' | 'broken'>;

export function ChainState() {
  const t = useT();
  const [progress, setProgress] = useState(0);
  const verify = useMutation({ mutationFn: () => verifyAll(setProgress) });
  const { data } = verify;
  return (
    <Group mb="md" gap="sm">
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="shield" size={14} />}
        loading={verify.isPending}
        onClick={() => verify.mutate()}
      >
        {t('auditVerify')}
      </Button>
      {verify.isPending ? <Text size="sm">{t('auditVerifying', { count: progress })}</Text> : null}
      {data ? (
        <Alert
          p="xs"
          role="status"
          variant="light"
          color={data.broken ? 'red' : 'plinth'}
          icon={<Icon name={data.broken ? 'warning' : 'check'} />}
        >
          {data.broken
            ? t('auditBroken', { position: data.broken.position ?? '–', fault: data.broken.fault })
            : t('auditIntact', { count: data.checked })}
        </Alert>
      ) : null}
      {verify.error ? <Failure error={verify.error} /> : null}
    </Group>
  );
}

async function verifyAll(onProgress: (checked: number) => void): Promise<Outcome> {
  let checked = 0;
  let after: number | null = 0;
  while (after !== null) {
    const slice: Slice = await dataOf(
      api.GET('/admin/v1/audit-log/verify', { params: { query: { after } } }),
    );
    checked += slice.checked;
    onProgress(checked);
    if (slice.broken) return { checked, broken: slice.broken };
    after = slice.next;
  }
  return { checked, broken: null };
}
