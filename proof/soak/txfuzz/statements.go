package txfuzz

import (
	"fmt"
	"strings"

	"github.com/onerow/onerow"
)

// tables are those of the run. No transaction writes another's rows of effect, all meet at hot.
var tables = []string{
	`CREATE TABLE effect (tx BIGINT NOT NULL, n INT NOT NULL, v BIGINT NOT NULL, s VARCHAR(100) NOT NULL DEFAULT '', PRIMARY KEY (tx, n)) ENGINE=InnoDB`,
	`CREATE TABLE hot (id INT NOT NULL PRIMARY KEY, v BIGINT NOT NULL) ENGINE=InnoDB`,
	`CREATE TABLE probe (id BIGINT NOT NULL PRIMARY KEY) ENGINE=InnoDB`,
	`CREATE TABLE numbers (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB`,
	`CREATE TABLE scratch (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB`,
	`INSERT INTO hot VALUES (1, 0), (2, 0), (3, 0), (4, 0)`,
	`INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5)`,
	`CREATE PROCEDURE begins() START TRANSACTION`,
	`CREATE PROCEDURE commits() COMMIT`,
	`CREATE FUNCTION writes(t BIGINT, k INT, val BIGINT) RETURNS INT MODIFIES SQL DATA
 BEGIN INSERT INTO effect (tx, n, v) VALUES (t, k, val); RETURN 1; END`,
}

// bulk is how many rows the slow statement inserts: those of the table numbers.
const bulk = 6

const (
	sqlInsert = `INSERT INTO effect (tx, n, v, s) VALUES (?, ?, ?, ?)`
	sqlHot    = `UPDATE hot SET v = v + 1 WHERE id = ?`
	sqlCount  = `SELECT COUNT(*) FROM effect WHERE tx = ?`
	// sqlSlow takes some milliseconds, in which it can be killed. SLEEP ends early then, and changes nothing.
	sqlSlow = `INSERT INTO effect (tx, n, v) SELECT ?, ? + n, ? + n + 0 * SLEEP(0.002) FROM numbers`
	// sqlNobody affects no row.
	sqlNobody = `UPDATE hot SET v = v + 1 WHERE id = -1`
)

// nasty are texts as values, and as literals in a statement.
var nasty = []string{"plain", "it's", "a;b", "; COMMIT; -- ", "-- x", "# x", "/* x", "*/", `\`, `\'`, `"`, "`", "?", "\n;", "ü✓", "a\x00b", "%s", "' ; DROP TABLE hot; -- "}

func nastyOf(id int64, n int) string { return nasty[(id+int64(n))%int64(len(nasty))] }

// literal is for the default sql_mode.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`).Replace(s) + "'"
}

// tails are what the attack comments puts behind a statement.
var tails = []string{" -- note", " # note", " /* note", ";", " ; ", ";;", " -- note\n", "; -- x", ";# x\n", " /* x */", " /*! */", " /*!50000 */", " /*!99999 x */", " /*M! */",
	"--", " --", "\n--\n", " /* ? */", " -- ?", " -- it's", " # \"", " /* ' */", " -- ;", " /* ; */ ;", "\x00", " /*", " */"}

// insert is a statement that inserts the next row, spelled in one of many ways.
func (o *op) insert() (onerow.Stmt, atom) {
	n := o.n
	o.n++
	return o.insertRow(n), atom{rows: []int{n}}
}

func (o *op) insertRow(n int) onerow.Stmt {
	v, s := valueOf(o.id, n), nastyOf(o.id, n)
	st := onerow.Stmt{Query: sqlInsert, Args: []any{o.id, n, v, s}, One: o.one(2)}
	switch o.r.IntN(9) {
	case 0:
		st.Query = `INSERT INTO effect /* ; */ (tx, n, v, s) VALUES (?, ?, ?, ?)`
	case 1:
		st.Query = `INSERT INTO effect (tx, n, v, s) VALUES (?, ?, ?, ` + literal(s) + `)`
		st.Args = st.Args[:3]
	case 2:
		st.Query = fmt.Sprintf(`INSERT INTO effect (tx, n, v, s) VALUES (%d, %d, %d, %s)`, o.id, n, v, literal(s))
		st.Args = nil
	case 3:
		st.Query = "-- a; b\n" + sqlInsert
	case 4:
		st.Query = `/*!50000 INSERT */ INTO effect (tx, n, v, s) VALUES (?, ?, ?, ?)`
	case 5:
		st.Query = `insert into effect(tx,n,v,s)select ?,?,?,?`
	case 6:
		st.Query = "# it's\n/* \" */" + sqlInsert
	}
	st.Query += o.tail()
	return st
}

// tail is nothing, but for the attack of that name.
func (o *op) tail() string {
	if o.attack != "comments" || !o.one(3) { // most of the texts must be right
		return ""
	}
	return tails[o.r.IntN(len(tails))]
}

// raise is a statement that raises a counter. It says itself that it affects one row: a killed UPDATE may be
// answered with OK and none.
func (o *op) raise() (onerow.Stmt, atom) {
	hot := 1 + o.r.IntN(hotRows)
	return onerow.Stmt{Query: sqlHot + o.tail(), Args: []any{hot}, One: true}, atom{hot: hot}
}

// any is one of the two. Where the caller's statements commit in the middle, counters cannot be kept.
func (o *op) any() (onerow.Stmt, atom) {
	if o.attack == "ends" || !o.one(3) {
		return o.insert()
	}
	return o.raise()
}

func (o *op) several(most int) (stmts []onerow.Stmt, atoms []atom) {
	for range 1 + o.r.IntN(most) {
		s, a := o.any()
		stmts, atoms = append(stmts, s), append(atoms, a)
	}
	return stmts, atoms
}

// texts are statements for the story.
func texts(stmts []onerow.Stmt) string {
	all := make([]string, len(stmts))
	for i, s := range stmts {
		text := strings.Replace(strings.Replace(s.Query, sqlInsert, "INSERT…", 1), sqlHot, "HOT…", 1)
		all[i] = fmt.Sprintf("%q", text)
		if s.One {
			all[i] += " one"
		}
		if len(s.Args) > 0 && s.Query != sqlInsert {
			all[i] += fmt.Sprint(s.Args)
		}
	}
	return strings.Join(all, ", ")
}
