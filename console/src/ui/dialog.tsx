/** Dialogs and drawers. Escape closes only the topmost. */
import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core';
import { useEffect, useId, useState, useSyncExternalStore } from 'react';
import { useT } from '../i18n';

/** Open dialogs and drawers, the topmost last. */
let layers: readonly string[] = [];
const listeners = new Set<() => void>();

function setLayers(next: readonly string[]): void {
  layers = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @returns true if nothing is open above it */
export function useIsOnTop(isOpen: boolean): boolean {
  const id = useId();
  useEffect(() => {
    if (!isOpen) return undefined;
    setLayers([...layers, id]);
    // Runs after the event has ended: otherwise the key that closes this layer would also reach the layers below it.
    return () => void setTimeout(() => setLayers(layers.toSpliced(layers.indexOf(id), 1)));
  }, [id, isOpen]);
  return useSyncExternalStore(subscribe, () => layers.at(-1) === id);
}

/** Returns the focus. Mantine does this only for dialogs that remain in the page after they are closed. */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const { activeElement, body } = document;
      if (activeElement === body && before instanceof HTMLElement) before.focus({ preventScroll: true });
    },
    [before],
  );
}

/** A dialog that is open while it is rendered. */
export function Dialog(props: Pick<ModalProps, 'onClose' | 'title' | 'size' | 'children'>) {
  const t = useT();
  const isOnTop = useIsOnTop(true);
  useFocusReturn();
  return <Modal opened closeOnEscape={isOnTop} closeButtonProps={{ 'aria-label': t('close') }} {...props} />;
}

/** A drawer at the side of the page. */
export function SideDrawer({ opened = true, ...props }: Omit<DrawerProps, 'opened'> & { opened?: boolean }) {
  const t = useT();
  const isOnTop = useIsOnTop(opened);
  useFocusReturn();
  return (
    <Drawer
      opened={opened}
      closeOnEscape={isOnTop}
      position="right"
      closeButtonProps={{ 'aria-label': t('close') }}
      {...props}
    />
  );
}
