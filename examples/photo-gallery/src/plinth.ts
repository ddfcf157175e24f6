/** The client of the project. */
import { createClient } from '@supabase/supabase-js';

export const plinth = createClient(import.meta.env.VITE_PLINTH_URL, import.meta.env.VITE_ANON_KEY);
