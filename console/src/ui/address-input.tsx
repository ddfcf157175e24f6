/** Fields whose text is in the address, such as a search. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';

interface AddressText {
  /** The text in the address. */
  readonly value: string;
  /** Changes the address. */
  readonly onText: (text: string) => void;
}

/** The address follows after a delay. A field that showed only the address would lose letters typed before that. */
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
