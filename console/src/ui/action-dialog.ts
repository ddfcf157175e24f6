/** Dialogs that the command palette opens. */
import { useDisclosure } from '@mantine/hooks';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ACTIONS } from './screens';

type Action = (typeof ACTIONS)[number]['label'];

declare module '@tanstack/react-router' {
  interface HistoryState {
    dialog?: Action;
  }
}

/** Like `useDisclosure`, but a history entry with the name of the dialog opens it once. */
export function useActionDialog(name: Action): ReturnType<typeof useDisclosure> {
  const disclosure = useDisclosure();
  const [, { open }] = disclosure;
  const isWanted = useLocation({ select: ({ state }) => state.dialog === name });
  const navigate = useNavigate();
  useEffect(() => {
    if (!isWanted) return;
    open();
    void navigate({ to: '.', search: true, state: {}, replace: true });
  }, [isWanted, open, navigate]);
  return disclosure;
}
