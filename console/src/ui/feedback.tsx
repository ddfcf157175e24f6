/** States of a screen: loading, failed, empty. */
import { Alert, Button, Center, Group, Loader, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError, messageOf } from '../api/errors';
import { useT } from '../i18n';
import { Icon, type IconName } from './icon';
import textStyles from './text.module.css';
import styles from './feedback.module.css';

export function Loading() {
  const t = useT();
  return (
    <Center mih={160} role="status" aria-label={t('loading')}>
      <Loader size="sm" />
    </Center>
  );
}

/** The server's error message, with PostgreSQL's detail and hint. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useT();
  const database = error instanceof ApiError ? error.database : null;
  const isOffline = error instanceof ApiError && error.status === 0;
  // The response to a fault of the server has no details.
  const isFault = error instanceof ApiError && error.code === 'internal_error';
  return (
    <Alert color="red" variant="light" role="alert" icon={<Icon name="warning" />}>
      <Text size="sm" className={textStyles.wrap}>
        {isOffline ? t('unreachable') : isFault ? t('serverFailed') : messageOf(error)}
      </Text>
      {[database?.detail, database?.hint].map((text) =>
        text ? <SmallText key={text}>{text}</SmallText> : null,
      )}
      {error instanceof ApiError && error.retryAfter !== null ? (
        <SmallText>{t('retryAfter', { seconds: error.retryAfter })}</SmallText>
      ) : null}
      {error instanceof ApiError && error.code !== 'unknown' && !isOffline ? (
        <SmallText>{error.code}</SmallText>
      ) : null}
      {onRetry ? (
        <Button
          mt="xs"
          size="xs"
          variant="default"
          leftSection={<Icon name="refresh" size={14} />}
          onClick={onRetry}
        >
          {t('retry')}
        </Button>
      ) : null}
    </Alert>
  );
}

function SmallText({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed" mt={4} className={textStyles.wrap}>
      {children}
    </Text>
  );
}

/** The result of a query, or its loading or error state. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>;
  children: (data: NonNullable<Data>) => ReactNode;
}) {
  if (query.data !== undefined && query.data !== null) return <>{children(query.data)}</>;
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading />;
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
  readonly children?: ReactNode;
}

/** An empty state: a description of the missing objects, with a button that creates one. */
export function Empty({ icon, title, text, children }: EmptyProps) {
  return (
    <Center mih={260} p="md">
      <Stack align="center" gap="xs" maw={440}>
        <div className={styles.emptyIcon}>
          <Icon name={icon} size={28} />
        </div>
        <Title order={2} size="h4" ta="center">
          {title}
        </Title>
        <Text c="dimmed" ta="center" size="sm">
          {text}
        </Text>
        <Group mt="xs">{children}</Group>
      </Stack>
    </Center>
  );
}

export function announce(message: string): void {
  const icon = <Icon name="check" />;
  notifications.show({ message, color: 'plinth', icon, autoClose: 3500, withCloseButton: false });
}

/** @param close label of the button that closes the message */
export function announceFailure(error: unknown, close: string): void {
  notifications.show({
    message: messageOf(error),
    color: 'red',
    icon: <Icon name="warning" />,
    autoClose: 9000,
    closeButtonProps: { 'aria-label': close },
  });
}
