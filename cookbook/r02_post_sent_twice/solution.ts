// Pays an amount once for each key, and prints the payments' ids:
//
//     MYSQL_DATABASE=shop node solution.js 30 key-1 key-2
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";

const duplicate = 1062;

// pay writes the key first. Whoever comes second waits for the first one's COMMIT, and reads its result.
async function pay(db: Connection, key: string, amount: number): Promise<number> {
  await db.beginTransaction();
  try {
    await db.execute("INSERT INTO request (idempotency_key, amount) VALUES (?, ?)", [key, amount]);
    const [made] = await db.execute<ResultSetHeader>("INSERT INTO payment (amount) VALUES (?)", [amount]);
    await db.execute("UPDATE request SET payment_id = ? WHERE idempotency_key = ?", [made.insertId, key]);
    await db.commit();
    return made.insertId;
  } catch (err) {
    await db.rollback(); // a lock wait timeout, too, leaves the transaction open
    if ((err as { errno?: number }).errno !== duplicate) throw err;
  }
  const [rows] = await db.execute<RowDataPacket[]>("SELECT amount, payment_id FROM request WHERE idempotency_key = ?", [key]);
  if (rows[0]?.amount !== amount) throw new Error(`the key ${key} belongs to another request`);
  return rows[0].payment_id;
}

const db = await createConnection({
  host: process.env.MYSQL_HOST ?? "127.0.0.1",
  port: Number(process.env.MYSQL_PORT ?? 3306),
  user: process.env.MYSQL_USER ?? "root",
  password: process.env.MYSQL_PASSWORD ?? "",
  database: process.env.MYSQL_DATABASE,
});
try {
  const [amount, ...keys] = process.argv.slice(2);
  for (const key of keys) console.log(await pay(db, key, Number(amount)));
} finally {
  await db.end();
}
