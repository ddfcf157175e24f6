/** The schemas of a project as a role sees them, and their types as JSON Schema. */
import { FolderModule } from '../infra/folder-module';

@FolderModule(__dirname)
export class VisibleSchemaModule {}
