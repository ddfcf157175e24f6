/** A link that opens SQL in the editor. It runs only after a click on Run. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type Project, useMayWrite } from '../queries/projects';
import { Icon } from './icon';

export function OpenSql({ project, sql, label }: { project: Project; sql: string; label: string }) {
  if (!useMayWrite(project)) return null;
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<Icon name="sql" size={14} />}
      renderRoot={(props) => (
        <Link to="/projects/$slug/sql" params={{ slug: project.slug }} search={{ query: sql }} {...props} />
      )}
    >
      {label}
    </Button>
  );
}
