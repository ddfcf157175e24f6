/** Opens the dialog with the data that an application needs to connect, which is loaded when it is opened. */
import { ActionIcon, Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { useT } from '../i18n';
import { Icon } from './icon';

const ConnectDialog = lazy(() => import('./connect-dialog'));

interface ConnectButtonProps extends Pick<ButtonProps, 'variant'> {
  readonly slug: string;
  /** Shows only an icon on a narrow page. */
  readonly isOfHeader?: boolean;
}

export function ConnectButton({ slug, variant = 'default', isOfHeader = false }: ConnectButtonProps) {
  const t = useT();
  const [isOpen, dialog] = useDisclosure();
  return (
    <>
      <Button
        size="xs"
        variant={variant}
        leftSection={<Icon name="link" size={14} />}
        onClick={dialog.open}
        {...(isOfHeader ? { visibleFrom: 'sm' } : {})}
      >
        {t('connect')}
      </Button>
      {isOfHeader ? (
        <ActionIcon size="lg" hiddenFrom="sm" aria-label={t('connect')} onClick={dialog.open}>
          <Icon name="link" />
        </ActionIcon>
      ) : null}
      {isOpen ? (
        <Suspense>
          <ConnectDialog slug={slug} onClose={dialog.close} />
        </Suspense>
      ) : null}
    </>
  );
}
