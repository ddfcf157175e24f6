/** Fields whose text is a part of the address, such as a search. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';

interface AddressText {
  /** As the address has it. */
  readonly value: string;
  /** Changes the address. */
  readonly onText: (text: string) => void;
}

/** The address follows after a moment: a field that shows the address only would lose letters typed before that. */
export function useAddressText({ value, onText }: AddressText) {
  const [typed, setTyped] = useState<string | null>(null);
  return {
    value: typed ?? value,
    onChange: (text: string): void => {
      setTyped(text);
      onText(text);
    },
    onBlur: (): void => setTyped(null),
  };
}

type AddressInputProps = AddressText & Omit<TextInputProps, 'value' | 'onChange' | 'onBlur'>;

export function AddressInput({ value, onText, ...props }: AddressInputProps) {
  const { onChange, ...field } = useAddressText({ value, onText });
  return <TextInput {...props} {...field} onChange={(event) => onChange(event.currentTarget.value)} />;
}
