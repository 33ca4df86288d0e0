// Gives each order the next invoice number, once, and prints the numbers:
//
//     MYSQL_DATABASE=shop node solution.js 4711 4712
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";

const duplicate = 1062;

// number claims the order, then moves the counter, whose row is locked until COMMIT.
async function number(db: Connection, order: number): Promise<number> {
  await db.beginTransaction();
  try {
    await db.execute("INSERT INTO invoice (order_id) VALUES (?)", [order]);
    const [moved] = await db.execute<ResultSetHeader>("UPDATE series SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'invoice'");
    if (moved.affectedRows !== 1) throw new Error("there is no such series");
    await db.execute("UPDATE invoice SET no = LAST_INSERT_ID() WHERE order_id = ?", [order]);
    await db.commit();
  } catch (err) {
    await db.rollback(); // a lock wait timeout, too, leaves the transaction open
    if ((err as { errno?: number }).errno !== duplicate) throw err;
  }
  const [rows] = await db.execute<RowDataPacket[]>("SELECT no FROM invoice WHERE order_id = ?", [order]);
  if (!rows[0]) throw new Error(`another order has the number that order ${order} was to have`);
  return rows[0].no;
}

const db = await createConnection({
  host: process.env.MYSQL_HOST ?? "127.0.0.1",
  port: Number(process.env.MYSQL_PORT ?? 3306),
  user: process.env.MYSQL_USER ?? "root",
  password: process.env.MYSQL_PASSWORD ?? "",
  database: process.env.MYSQL_DATABASE,
});
try {
  for (const order of process.argv.slice(2)) console.log(await number(db, Number(order)));
} finally {
  await db.end();
}
