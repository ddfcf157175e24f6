/** Asks for the values of a statement's parameters, which are sent separately. */
import { Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../i18n';
import { Dialog } from '../../ui/dialog';
import { FormButtons } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';

export type ParameterValues = ReadonlyMap<string, string | null>;

interface ParametersDialogProps {
  readonly names: readonly string[];
  /** The values of the last run. */
  readonly values: ParameterValues;
  readonly action: string;
  readonly onRun: (values: ParameterValues) => void;
  readonly onClose: () => void;
}

export function ParametersDialog({ names, values, action, onRun, onClose }: ParametersDialogProps) {
  const t = useT();
  const [entered, setEntered] = useState(values);
  const valueOf = (name: string): string | null => (entered.has(name) ? entered.get(name)! : '');
  const set = (name: string, value: string | null): void => setEntered(new Map(entered).set(name, value));
  return (
    <Dialog onClose={onClose} title={t('parameters')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onRun(new Map(names.map((name) => [name, valueOf(name)])));
        }}
      >
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t('parametersText')}
          </Text>
          {names.map((name, index) => (
            <Group key={name} align="end" gap="sm" wrap="nowrap">
              <TextInput
                label={name}
                flex={1}
                classNames={{ input: textStyles.mono }}
                value={valueOf(name) ?? ''}
                placeholder={valueOf(name) === null ? 'null' : ''}
                disabled={valueOf(name) === null}
                onChange={(event) => set(name, event.currentTarget.value)}
                {...(index === 0 ? { 'data-autofocus': true } : {})}
              />
              <Checkbox
                mb={8}
                label="null"
                aria-label={t('isNull', { name })}
                checked={valueOf(name) === null}
                onChange={(event) => set(name, event.currentTarget.checked ? null : '')}
              />
            </Group>
          ))}
          <FormButtons action={action} isPending={false} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
