/** An input for a number with its unit, such as 8 s or 50 MiB. The value is in the smallest unit. */
import { Group, Input, NumberInput, type NumberInputProps, Select } from '@mantine/core';
import { useId, useState } from 'react';
import { useLanguages } from '../i18n';
import { fittingUnit, type Unit } from '../lib/units';

interface UnitInputProps extends Pick<NumberInputProps, 'label' | 'description'> {
  readonly name: string;
  readonly units: readonly Unit[];
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
}

export function UnitInput({ name, units, value, onChange, label, description }: UnitInputProps) {
  const { language, t } = useLanguages();
  const id = useId();
  const [unit, setUnit] = useState(() => fittingUnit(units, value));
  /** The value that the field shows; a different `value` was saved, restored or discarded by the form. */
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    setUnit(fittingUnit(units, value));
  }
  const change = (next: number | null): void => {
    setShown(next);
    onChange(next);
  };
  return (
    <Input.Wrapper id={id} label={label} description={description}>
      <Group gap="xs" mt={4} wrap="nowrap" maw={420}>
        <NumberInput
          id={id}
          aria-describedby={`${id}-description`}
          flex={1}
          value={value === null ? '' : value / unit.factor}
          decimalScale={3}
          thousandSeparator={language === 'de' ? '.' : ','}
          decimalSeparator={language === 'de' ? ',' : '.'}
          onChange={(next) => change(next === '' ? null : Math.round(Number(next) * unit.factor))}
        />
        <Select
          aria-label={t('unitOf', { name })}
          w={90}
          allowDeselect={false}
          data={units.map((one) => one.label)}
          value={unit.label}
          onChange={(next) => {
            const chosen = units.find((one) => one.label === next) ?? unit;
            setUnit(chosen);
            if (value !== null) change(Math.round((value / unit.factor) * chosen.factor));
          }}
        />
      </Group>
    </Input.Wrapper>
  );
}
