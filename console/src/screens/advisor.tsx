/** The findings of the advisor: why each matters, and the SQL of a suggested fix. */
import { Alert, Badge, Button, Card, Code, Group, Stack, Switch, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { api, dataOf, type Schema } from '../api/client';
import { adviceQuery } from '../queries/inside';
import { type Project, useMayWrite, useProject } from '../queries/projects';
import { useLanguages } from '../i18n';
import { advice as germanReasons } from '../i18n/de/advice';
import { formatTime } from '../lib/format';
import { announceFailure, Empty, Loaded } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { OpenSql } from '../ui/open-sql';
import { Page, Snippet } from '../ui/parts';
import textStyles from '../ui/text.module.css';

const route = getRouteApi('/signed-in/projects/$slug/advisor');
const COLORS = { critical: 'red', warning: 'orange', info: 'gray' } as const;

type Advice = Schema<'AdviceResponse'>;

export function AdvisorScreen() {
  const { t } = useLanguages();
  const project = useProject();
  const advice = useQuery(adviceQuery(project));
  const { dismissed } = route.useSearch();
  const navigate = route.useNavigate();
  const withDismissed = dismissed !== undefined;
  const again = (
    <Button
      variant="default"
      loading={advice.isFetching}
      leftSection={<Icon name="refresh" size={16} />}
      onClick={() => void advice.refetch()}
    >
      {t('examineAgain')}
    </Button>
  );
  return (
    <Page title={t('advisor')} text={t('advisorText')} actions={again}>
      <Loaded query={advice}>
        {({ advice: all, skipped, truncated }) => {
          const shown = all.filter((one) => withDismissed || one.dismissed === null);
          const hidden = all.filter((one) => one.dismissed !== null).length;
          return (
            <Stack gap="md">
              {hidden > 0 ? (
                <Switch
                  label={t('showDismissed', { count: hidden })}
                  checked={withDismissed}
                  onChange={(event) =>
                    void navigate({ search: event.currentTarget.checked ? { dismissed: 'shown' } : {} })
                  }
                />
              ) : null}
              <Skipped skipped={skipped} truncated={truncated} />
              {shown.length === 0 ? (
                <Empty icon="check" title={t('noAdvice')} text={t('noAdviceText')} />
              ) : null}
              {shown.map((one) => (
                <Finding key={one.id} advice={one} project={project} />
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Skipped({ skipped, truncated }: Pick<Schema<'ProjectAdvice'>, 'skipped' | 'truncated'>) {
  const { t } = useLanguages();
  if (skipped.length === 0 && truncated.length === 0) return null;
  return (
    <Alert color="orange" variant="light" icon={<Icon name="warning" />}>
      {skipped.map(({ check, reason }) => (
        <Text size="sm" key={check} className={textStyles.wrap}>
          {t('checkSkipped', { check, reason })}
        </Text>
      ))}
      {truncated.map((check) => (
        <Text size="sm" key={check}>
          {t('checkTruncated', { check })}
        </Text>
      ))}
    </Alert>
  );
}

function Finding({ advice, project }: { advice: Advice; project: Project }) {
  const { t, language } = useLanguages();
  const mayChange = useMayWrite(project);
  const { severity, check, object, why, sql, dismissed } = advice;
  return (
    <Card withBorder component="article" aria-label={object.join('.')}>
      <Group justify="space-between" align="start" gap="xs" mb="xs">
        <Group gap="xs">
          <Badge variant="light" color={COLORS[severity]}>
            {t(`severity_${severity}`)}
          </Badge>
          <Text fw={600} className={textStyles.wrap} dir="auto">
            {object.map((name) => name.slice(0, 200)).join(' · ')}
          </Text>
          <Code>{check}</Code>
        </Group>
        {mayChange ? <Dismissal advice={advice} project={project} /> : null}
      </Group>
      <Text size="sm" className={textStyles.wrap}>
        {language === 'de' ? withValues(germanReasons[advice.reason], advice.values) : why}
      </Text>
      {dismissed === null ? null : (
        <Text size="xs" c="dimmed" mt={4}>
          {t('dismissedBy', { actor: dismissed.actor, time: formatTime(dismissed.at, language) })}
        </Text>
      )}
      {sql === null ? (
        <Text size="xs" c="dimmed" mt="xs">
          {t('noMend')}
        </Text>
      ) : (
        <Stack gap="xs" mt="xs">
          <Snippet label={t('mendingSql')} text={sql} />
          <Group>
            <OpenSql project={project} sql={sql} label={t('openInEditor')} />
          </Group>
        </Stack>
      )}
    </Card>
  );
}

const withValues = (text: string, values: Advice['values']): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

function Dismissal({ advice, project }: { advice: Advice; project: Project }) {
  const { t } = useLanguages();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: async () => {
      const params = { params: { path: { id: project.id, advice_id: advice.id } } };
      const path = '/admin/v1/projects/{id}/advice/{advice_id}/dismiss';
      await (advice.dismissed === null ? dataOf(api.POST(path, params)) : dataOf(api.DELETE(path, params)));
      await client.invalidateQueries({ queryKey: adviceQuery(project).queryKey });
    },
    onError: (error) => announceFailure(error, t('close')),
  });
  return (
    <Button size="xs" variant="default" loading={change.isPending} onClick={() => change.mutate()}>
      {advice.dismissed === null ? t('dismiss') : t('restore')}
    </Button>
  );
}
