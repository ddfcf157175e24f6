/** The deliveries of a webhook, each with its attempts. */
import { Accordion, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLanguages, useT } from '../../i18n';
import { formatMs, formatTime } from '../../lib/format';
import { type Project, useMay } from '../../queries/projects';
import {
  deliveriesQuery,
  type Delivery,
  deliveryQuery,
  sendAgain,
  type Webhook,
  webhookName,
} from '../../queries/webhooks';
import { announce, Failure, Loaded } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { DetailDrawer, Snippet } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';

interface DeliveriesProps {
  readonly project: Project;
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

const COLORS = { waiting: 'yellow', delivered: 'plinth', failed: 'red' } as const;

export function Deliveries({ project, webhook, onClose }: DeliveriesProps) {
  const { t, language } = useLanguages();
  const deliveries = useInfiniteQuery(deliveriesQuery(project, webhook));
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <DetailDrawer title={t('deliveriesOf', { name: webhookName(webhook) })} onClose={onClose}>
      <Loaded query={deliveries}>
        {({ pages }) => (
          <Stack gap="sm">
            {pages.flat().length === 0 ? <Text size="sm">{t('noDeliveries')}</Text> : null}
            <Accordion variant="contained" value={opened} onChange={setOpened} order={2}>
              {pages.flat().map((delivery) => (
                <Accordion.Item key={delivery.id} value={delivery.id}>
                  <Accordion.Control>
                    <Group gap="xs">
                      <Badge color={COLORS[delivery.state]} variant="dot">
                        {t(`delivery_${delivery.state}`)}
                      </Badge>
                      <Text size="sm" span>
                        {[delivery.event, delivery.status, formatTime(delivery.created_at, language)]
                          .filter((one) => one !== null)
                          .join(' · ')}
                      </Text>
                    </Group>
                  </Accordion.Control>
                  <Accordion.Panel>
                    {opened === delivery.id ? (
                      <Details project={project} webhook={webhook} delivery={delivery} />
                    ) : null}
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
            {deliveries.hasNextPage ? (
              <Button
                variant="default"
                loading={deliveries.isFetchingNextPage}
                onClick={() => void deliveries.fetchNextPage()}
              >
                {t('more')}
              </Button>
            ) : null}
          </Stack>
        )}
      </Loaded>
    </DetailDrawer>
  );
}

interface DetailsProps extends Omit<DeliveriesProps, 'onClose'> {
  readonly delivery: Delivery;
}

function Details({ project, webhook, delivery }: DetailsProps) {
  const { t, language } = useLanguages();
  const details = useQuery(deliveryQuery(project, webhook, delivery));
  return (
    <Loaded query={details}>
      {({ payload, attempt_list: attempts }) => (
        <Stack gap="sm">
          <Snippet label={t('deliveryBody')} text={payload} />
          {delivery.next_attempt_at === null ? null : (
            <Text size="sm">
              {t('nextAttempt', { time: formatTime(delivery.next_attempt_at, language) })}
            </Text>
          )}
          {attempts.map(({ number, at, duration_ms: ms, status, error, answer }) => (
            <div key={number}>
              <Text size="sm" fw={550}>
                {[
                  t('attempt', { number }),
                  formatTime(at, language),
                  formatMs(ms, language),
                  status === null ? t('noAnswer') : t('statusIs', { status }),
                ].join(' · ')}
              </Text>
              {error === null ? null : (
                <Text size="sm" className={`${textStyles.bad} ${textStyles.wrap}`} dir="auto">
                  {error}
                </Text>
              )}
              {answer ? <Snippet label={t('answerOf', { number })} text={answer} /> : null}
            </div>
          ))}
          <SendAgain project={project} webhook={webhook} delivery={delivery} />
        </Stack>
      )}
    </Loaded>
  );
}

function SendAgain({ project, webhook, delivery }: DetailsProps) {
  const t = useT();
  const client = useQueryClient();
  const maySend = useMay(
    project,
    'POST /admin/v1/projects/:id/webhooks/:webhook_id/deliveries/:delivery_id/retry',
  );
  const send = useMutation({
    mutationFn: () => sendAgain(project, webhook, delivery),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: deliveriesQuery(project, webhook).queryKey });
      announce(t('queuedAgain', { name: webhookName(webhook) }));
    },
  });
  if (!maySend || delivery.state === 'waiting') return null;
  return (
    <>
      {send.error ? <Failure error={send.error} /> : null}
      <Button
        variant="default"
        style={{ alignSelf: 'start' }}
        leftSection={<Icon name="refresh" size={16} />}
        loading={send.isPending}
        onClick={() => send.mutate()}
      >
        {t('sendAgain')}
      </Button>
    </>
  );
}
