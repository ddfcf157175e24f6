/** The switch of live rows. It offers to make a table live first if its changes are not sent yet. */
import { Alert, Button, Group, Popover, Switch, Text, Tooltip } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useT } from '../../i18n';
import type { Relation } from '../../queries/catalog-types';
import { changeLiveTable, liveTablesQuery } from '../../queries/live-tables';
import { type Project, useMay } from '../../queries/projects';
import { Failure } from '../../ui/feedback';
import styles from './live-switch.module.css';
import type { LiveRows } from './use-live-rows';

interface LiveSwitchProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly live: LiveRows;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function LiveSwitch(props: LiveSwitchProps) {
  const { live, isOn, onChange } = props;
  const t = useT();
  const isRefused = isOn && live.error !== null;
  const state = !isOn ? t('liveOff') : live.status === 'live' ? t('liveOn') : t('liveConnecting');
  return (
    <Popover opened={isRefused} position="bottom-end" width={300} withArrow withRoles={false}>
      <Popover.Target>
        <div className={styles.switch} data-state={isOn ? live.status : 'off'}>
          <Tooltip label={state}>
            <Switch
              size="xs"
              label={t('live')}
              aria-describedby="live-state"
              checked={isOn}
              onChange={(event) => onChange(event.currentTarget.checked)}
            />
          </Tooltip>
          <span id="live-state" role="status" className={styles.state}>
            {state}
          </span>
        </div>
      </Popover.Target>
      <Popover.Dropdown>{live.error ? <Refusal {...props} error={live.error} /> : null}</Popover.Dropdown>
    </Popover>
  );
}

function Refusal(props: LiveSwitchProps & { readonly error: Error & { readonly code?: string } }) {
  const { error, onChange } = props;
  const t = useT();
  if (error.code === 'table_not_live') return <MakeLive {...props} />;
  return (
    <>
      <Failure error={error} />
      <Button mt="xs" size="xs" variant="default" onClick={() => onChange(false)}>
        {t('liveSwitchOff')}
      </Button>
    </>
  );
}

function MakeLive({ project, relation: { schema, name }, live, onChange }: LiveSwitchProps) {
  const t = useT();
  const client = useQueryClient();
  const mayChange = useMay(project, 'PATCH /admin/v1/projects/:id/live-tables');
  const tables = useQuery(liveTablesQuery(project));
  const table = tables.data?.find((one) => one.schema === schema && one.table === name);
  const make = useMutation({
    mutationFn: () => changeLiveTable(project, { schema, table: name, live: true }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: liveTablesQuery(project).queryKey });
      live.retry();
    },
  });
  const canBeLive = table?.can_be_live ?? true;
  return (
    <>
      <Text size="sm">{t(canBeLive ? 'notLiveText' : 'needsKeyToBeLive', { name })}</Text>
      {!mayChange ? (
        <Alert mt="xs" color="gray" variant="light">
          {t('mayNotMakeLive')}
        </Alert>
      ) : null}
      {make.error ? <Failure error={make.error} /> : null}
      <Group mt="xs" gap="xs" justify="end">
        <Button size="xs" variant="default" onClick={() => onChange(false)}>
          {t('cancel')}
        </Button>
        {mayChange && canBeLive ? (
          <Button size="xs" loading={make.isPending} onClick={() => make.mutate()}>
            {t('makeLive')}
          </Button>
        ) : null}
      </Group>
    </>
  );
}
