// A process that holds an embedded PostgreSQL until it is killed: node postgres-holder.cjs <build> <data directory>
const [, , build, dataDir] = process.argv;
const { EmbeddedPostgres } = require(`${build}/src/database/embedded/embedded-postgres.js`);

EmbeddedPostgres.start({ dataDir }).then(
  (postgres) => {
    console.log(`READY ${postgres.pid} ${postgres.url}`);
    setInterval(() => undefined, 60_000);
  },
  (error) => {
    console.log(`${error.name}: ${error.message}`);
    process.exit(1);
  },
);
