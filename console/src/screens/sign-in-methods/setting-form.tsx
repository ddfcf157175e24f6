/** The form of a sign-in method whose data is in settings of the project. */
import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../../i18n';
import { type Project, useMay } from '../../queries/projects';
import fieldsetStyles from '../../ui/fieldset.module.css';
import { Failure } from '../../ui/feedback';
import { Section } from '../../ui/parts';
import { type SettingsChange, useSaveSettings } from './save-settings';

interface SettingFormProps {
  readonly project: Project;
  readonly title: string;
  readonly text: string;
  /** Returns the settings in the fields. */
  readonly change: () => SettingsChange;
  /** The change that turns the method off; null if it is off. */
  readonly off?: SettingsChange | null;
  readonly onSaved?: () => void;
  /** Further buttons. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function SettingForm(props: SettingFormProps) {
  const { project, title, text, change, off = null, onSaved, actions, children } = props;
  const t = useT();
  const mayChange = useMay(project, 'PATCH /admin/v1/projects/:id');
  const save = useSaveSettings(project);
  return (
    <Section title={title} text={text}>
      <form
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(change(), { onSuccess: () => onSaved?.() });
        }}
      >
        <Stack
          gap="sm"
          className={fieldsetStyles.plain}
          renderRoot={(root) => <fieldset disabled={!mayChange} {...root} />}
        >
          {children}
          {save.error ? <Failure error={save.error} /> : null}
          {mayChange ? (
            <Group gap="xs">
              <Button
                type="submit"
                variant="default"
                loading={save.isPending}
                aria-label={t('saveWay', { name: title })}
              >
                {t('saveSettings')}
              </Button>
              {off ? (
                <Button
                  variant="default"
                  aria-label={t('turnWayOff', { name: title })}
                  onClick={() => save.mutate(off, { onSuccess: () => onSaved?.() })}
                >
                  {t('turnOff')}
                </Button>
              ) : null}
              {actions}
            </Group>
          ) : null}
        </Stack>
      </form>
    </Section>
  );
}
