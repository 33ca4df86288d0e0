// Prints the id of each address's account, and makes those that are not there:
//
//     MYSQL_DATABASE=shop node solution.js ann@example.com bob@example.com
import { createConnection, type Connection, type ResultSetHeader, type RowDataPacket } from "mysql2/promise";

const duplicate = 1062;

// account writes first. A duplicate means that the account is there, whoever made it.
async function account(db: Connection, email: string): Promise<number> {
  try {
    const [made] = await db.execute<ResultSetHeader>("INSERT INTO account (email) VALUES (?)", [email]);
    return made.insertId;
  } catch (err) {
    if ((err as { errno?: number }).errno !== duplicate) throw err;
  }
  const [rows] = await db.execute<RowDataPacket[]>("SELECT id FROM account WHERE email = ?", [email]);
  if (!rows[0]) throw new Error(`the account of ${email} was deleted meanwhile`);
  return rows[0].id;
}

const db = await createConnection({
  host: process.env.MYSQL_HOST ?? "127.0.0.1",
  port: Number(process.env.MYSQL_PORT ?? 3306),
  user: process.env.MYSQL_USER ?? "root",
  password: process.env.MYSQL_PASSWORD ?? "",
  database: process.env.MYSQL_DATABASE,
});
try {
  for (const email of process.argv.slice(2)) console.log(await account(db, email));
} finally {
  await db.end();
}
