/**
 * Asks before somebody loses rights: that staff member may know the password of a database, which remains
 * valid unless it is changed.
 */
import { Checkbox } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../i18n';
import { Confirm, type ConfirmProps } from '../../ui/parts';

interface DepartureProps extends Omit<ConfirmProps, 'run' | 'children'> {
  readonly run: (isRotating: boolean) => Promise<unknown>;
}

export function Departure({ run, ...props }: DepartureProps) {
  const t = useT();
  const [isRotating, setRotating] = useState(false);
  return (
    <Confirm {...props} run={() => run(isRotating)}>
      <Checkbox
        label={t('rotateDatabasePassword')}
        description={t('rotateDatabasePasswordText')}
        checked={isRotating}
        onChange={(event) => setRotating(event.currentTarget.checked)}
      />
    </Confirm>
  );
}
