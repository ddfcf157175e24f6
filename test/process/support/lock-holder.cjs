// A process that tries for the lock of a data directory, says how that went, and holds it until its input ends:
// node lock-holder.cjs <build> <data directory>. It begins when it is sent a line, so that many can begin at once.
const [, , build, dataDir] = process.argv;
const { InstanceLock } = require(`${build}/src/database/embedded/instance-lock.js`);

console.log('WAITING');
process.stdin.once('data', () => {
  InstanceLock.acquire(dataDir).then(
    () => console.log('LOCKED'),
    (error) => console.log(`${error.name}: ${error.message}`),
  );
});
process.stdin.once('end', () => process.exit());
