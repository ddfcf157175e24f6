/** Small components that several screens use. */
import {
  ActionIcon,
  Button,
  Card,
  CopyButton,
  Group,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
  Tooltip,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useT } from '../i18n';
import { Dialog, SideDrawer } from './dialog';
import { announce, Failure } from './feedback';
import { Icon, type IconName } from './icon';
import styles from './parts.module.css';
import pageStyles from './page.module.css';
import textStyles from './text.module.css';

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly disabled?: boolean;
  readonly color?: string;
}

export function IconButton({ icon, label, onClick, disabled = false, color = 'gray' }: IconButtonProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} onClick={onClick} disabled={disabled} color={color} size="md">
        <Icon name={icon} size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

export function Copy({ value, label }: { value: string; label?: string }) {
  const t = useT();
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <IconButton
          icon={copied ? 'check' : 'copy'}
          label={copied ? t('copied') : (label ?? t('copy'))}
          onClick={copy}
        />
      )}
    </CopyButton>
  );
}

/** Text to copy: a command, SQL, a URL. */
export function Snippet({ text, label }: { text: string; label: string }) {
  return (
    <div className={styles.snippet}>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <div className={styles.snippetCopy}>
        <Copy value={text} />
      </div>
    </div>
  );
}

/** A secret that is shown only on request. */
export function Secret({ label, value, hint }: { label: string; value: string; hint?: string }) {
  return (
    <Group align="end" gap={4} wrap="nowrap">
      <PasswordInput
        label={label}
        description={hint}
        value={value}
        readOnly
        flex={1}
        classNames={{ innerInput: textStyles.mono }}
      />
      <Copy value={value} />
    </Group>
  );
}

interface ShownOnceProps {
  readonly title: string;
  readonly text: string;
  readonly value: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** A secret right after it was created. The server does not show it again. */
export function ShownOnce({ title, text, value, onClose, children }: ShownOnceProps) {
  const t = useT();
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack gap="sm">
        <Text size="sm">{text}</Text>
        {children}
        <Snippet label={title} text={value} />
        <Group justify="end">
          <Button onClick={onClose}>{t('done')}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

interface PageProps {
  readonly title: string;
  readonly text?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, text, actions, children }: PageProps) {
  return (
    <div className={pageStyles.page}>
      <Group justify="space-between" align="start" mb="lg" gap="sm">
        <div>
          <Title order={1} size="h2" className={textStyles.wrap}>
            {title}
          </Title>
          {text ? (
            <Text c="dimmed" size="sm" mt={4} className={textStyles.wrap}>
              {text}
            </Text>
          ) : null}
        </div>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </div>
  );
}

/** A section of a page, with a heading. */
export function Section({ title, text, children }: { title: string; text?: string; children: ReactNode }) {
  return (
    <Card withBorder component="section" aria-label={title}>
      <Title order={2} size="h4" mb={4}>
        {title}
      </Title>
      {text ? (
        <Text size="sm" c="dimmed" mb="sm">
          {text}
        </Text>
      ) : null}
      {children}
    </Card>
  );
}

/** The details of an entry of a list, next to the list. */
export function DetailDrawer({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <SideDrawer onClose={onClose} size="lg" title={title}>
      {children}
    </SideDrawer>
  );
}

interface FormButtonsProps {
  readonly action: string;
  readonly danger?: boolean | undefined;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  readonly onClose: () => void;
}

/** The buttons that cancel or submit the form of a dialog. */
export function FormButtons({ action, danger, isPending, isDisabled, onClose }: FormButtonsProps) {
  const t = useT();
  return (
    <Group justify="end" gap="xs" className={styles.footer}>
      <Button variant="default" onClick={onClose}>
        {t('cancel')}
      </Button>
      <Button
        type="submit"
        color={danger ? 'red' : 'plinth'}
        loading={isPending}
        disabled={isDisabled ?? false}
      >
        {action}
      </Button>
    </Group>
  );
}

export interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  /** Text to type before the action is possible. */
  readonly typed?: string | undefined;
  readonly danger?: boolean;
  /** Announced when it has run: `Webhook orders deleted`. */
  readonly done?: string;
  readonly run: () => Promise<unknown>;
  readonly onClose: () => void;
  /** Called after the action, unless the dialog was closed before. */
  readonly onDone?: () => void;
  readonly children?: ReactNode;
}

/** Asks before an action, runs it, and stays open with the message if it fails. */
export function Confirm(props: ConfirmProps) {
  const { title, text, action, typed, danger = true, done, run, onClose, onDone, children } = props;
  const t = useT();
  const [input, setInput] = useState('');
  const mutation = useMutation({ mutationFn: run, onSuccess: () => done && announce(done) });
  const finish = (): void => {
    onClose();
    onDone?.();
  };
  return (
    <Dialog onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutation.mutate(undefined, { onSuccess: finish });
        }}
      >
        <Stack gap="sm">
          <Text size="sm" className={textStyles.wrap}>
            {text}
          </Text>
          {children}
          {typed === undefined ? null : (
            <TextInput
              label={t('typeToConfirm', { text: typed })}
              value={input}
              onChange={(event) => setInput(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {mutation.error ? <Failure error={mutation.error} /> : null}
          <FormButtons
            action={action}
            danger={danger}
            isPending={mutation.isPending}
            isDisabled={typed !== undefined && input !== typed}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
