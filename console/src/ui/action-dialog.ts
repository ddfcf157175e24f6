/** Dialogs that the command palette opens. */
import { useDisclosure } from '@mantine/hooks';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import type { ACTIONS } from './screens';

export type Action = (typeof ACTIONS)[number]['label'];

declare module '@tanstack/react-router' {
  interface HistoryState {
    dialog?: Action;
  }
}

/** As `useDisclosure`; an entry of the history with the name of the dialog opens it once. */
export function useActionDialog(name: Action): ReturnType<typeof useDisclosure> {
  const disclosure = useDisclosure();
  useAction(name, disclosure[1].open);
  return disclosure;
}

/** Calls `open` once for an entry of the history with the name of the dialog. */
export function useAction(name: Action | undefined, open: () => void): void {
  const onWanted = useEffectEvent(open);
  const isWanted = useLocation({ select: ({ state }) => name !== undefined && state.dialog === name });
  const navigate = useNavigate();
  useEffect(() => {
    if (!isWanted) return;
    onWanted();
    void navigate({ to: '.', search: true, state: {}, replace: true });
  }, [isWanted, navigate]);
}
