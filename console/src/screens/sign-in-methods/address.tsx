/** An address to copy into the form of a provider. */
import { Group, TextInput } from '@mantine/core';
import { useT } from '../../i18n';
import { Copy } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';

export function CopiedAddress({ label, hint, value }: { label: string; hint?: string; value: string }) {
  const t = useT();
  return (
    <Group align="end" gap={4} wrap="nowrap">
      <TextInput
        label={label}
        description={hint}
        value={value}
        readOnly
        flex={1}
        classNames={{ input: textStyles.mono }}
      />
      <Copy value={value} label={t('copyAddress', { label })} />
    </Group>
  );
}
