/** The frame and the forms of pages without a session. */
import { Button, Paper, Stack, Title } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Failure } from './feedback';
import { Logo } from './icon';
import { AppearanceMenu } from './appearance-menu';
import styles from './entry.module.css';

export function EntryPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className={styles.entry}>
      <div className={styles.corner}>
        <AppearanceMenu />
      </div>
      <Stack align="center" gap="lg" w="100%">
        <Stack align="center" gap="xs">
          <Logo size={48} />
          <Title order={1} size="h3">
            {title}
          </Title>
        </Stack>
        <Paper withBorder shadow="sm" p="lg" w="100%" maw={400}>
          {children}
        </Paper>
      </Stack>
    </main>
  );
}

interface EntryFormProps {
  readonly submit: UseMutationResult<unknown, Error, void>;
  /** Text of the button. */
  readonly action: string;
  readonly disabled?: boolean;
  /** True if a field shows the error of the call. */
  readonly isErrorShown?: boolean;
  readonly children: ReactNode;
}

export function EntryForm({
  submit,
  action,
  disabled = false,
  isErrorShown = false,
  children,
}: EntryFormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit.mutate();
      }}
    >
      <Stack gap="md">
        {children}
        {submit.error && !isErrorShown ? <Failure error={submit.error} /> : null}
        <Button type="submit" fullWidth loading={submit.isPending} disabled={disabled}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}

/** @returns the texts of a form, and the properties of the field with a name */
export function useFields<Fields extends Record<string, string>>(initial: Fields) {
  const [input, setInput] = useState(initial);
  const field = (name: keyof Fields) => ({
    value: input[name] as string,
    onChange: (event: { currentTarget: { value: string } }) =>
      setInput({ ...input, [name]: event.currentTarget.value }),
  });
  return [input, field] as const;
}

/** A required field without the asterisk, because all fields of these forms are required. */
export const REQUIRED = { required: true, withAsterisk: false } as const;
