/** Types that the clients' users know by name: `Tables<"orders">`, `TablesInsert<{ schema: "api" }, "orders">`. */
export const SUPABASE_HELPERS = `
type Schemas = Omit<Database, "__InternalSupabase">;
type SchemaName = keyof Schemas;
type Other = { schema: SchemaName };
type Group<Of, Kind extends keyof Schemas[SchemaName]> = Schemas[Of extends { schema: infer Schema extends SchemaName }
  ? Schema
  : $DEFAULT][Kind];
type NameIn<Of, Members> = Of extends Other ? keyof Members : never;
type Entry<Of, Name, Members> = Of extends Other
  ? Name extends keyof Members ? Members[Name] : never
  : Of extends keyof Members ? Members[Of] : never;
type Rows<Of> = Group<Of, "Tables"> & Group<Of, "Views">;

/** A row of a table or view. */
export type Tables<
  Of extends keyof Rows<$DEFAULT> | Other,
  Name extends NameIn<Of, Rows<Of>> = never,
> = Entry<Of, Name, Rows<Of>> extends { Row: infer Row } ? Row : never;

/** A row to insert into a table or view. */
export type TablesInsert<
  Of extends keyof Rows<$DEFAULT> | Other,
  Name extends NameIn<Of, Rows<Of>> = never,
> = Entry<Of, Name, Rows<Of>> extends { Insert: infer Insert } ? Insert : never;

/** The changes of an update. */
export type TablesUpdate<
  Of extends keyof Rows<$DEFAULT> | Other,
  Name extends NameIn<Of, Rows<Of>> = never,
> = Entry<Of, Name, Rows<Of>> extends { Update: infer Update } ? Update : never;

export type Enums<
  Of extends keyof Group<$DEFAULT, "Enums"> | Other,
  Name extends NameIn<Of, Group<Of, "Enums">> = never,
> = Entry<Of, Name, Group<Of, "Enums">>;

export type CompositeTypes<
  Of extends keyof Group<$DEFAULT, "CompositeTypes"> | Other,
  Name extends NameIn<Of, Group<Of, "CompositeTypes">> = never,
> = Entry<Of, Name, Group<Of, "CompositeTypes">>;
`;
