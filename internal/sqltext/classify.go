package sqltext

// Single returns how many placeholders a text has, and whether it is one statement that may be sent in one
// packet with others: SELECT, INSERT, UPDATE, DELETE, REPLACE, WITH, VALUES or TABLE, into no file and no
// variable, without a semicolon outside of quotes and comments, and with nothing behind it that runs on.
// Where the server would see more, or less, than a text shows, it may not: executable comments, NUL, a
// comment at the end that does not end. Nor where a driver that puts arguments into the text could put them
// elsewhere: with a question mark in quotes or in a comment, or in one piece with a word.
func Single(text string, mode Mode) (placeholders int, ok bool) {
	s := Classify(text, mode)
	return s.Placeholders, s.Travels
}

// Classify returns what a text does to its session. One semicolon may end it.
func Classify(text string, mode Mode) Statement {
	p := parser{scanner: scanner{text: text, mode: mode}}
	p.next()
	p.statement()
	if p.tok == semicolon {
		p.travels = false
		p.next()
	}
	if p.tok != end || p.st.Kind == Unclear {
		return Statement{Placeholders: p.st.Placeholders}
	}
	if p.st.Kind == Read && p.st.Calls {
		p.st.Kind = Write
	}
	p.st.Differs = p.differs
	p.st.Travels = p.travels && !p.swallows && !p.executable && !p.differs && !p.setVar
	return p.st
}

// Split returns the statements of a text, without the semicolons between them. Statements of white space and
// comments are left out. ok is false where the text is not understood. A compound statement falls apart.
func Split(text string, mode Mode) (statements []string, ok bool) {
	s := scanner{text: text, mode: mode}
	from, empty := 0, true
	for {
		s.next()
		switch s.tok {
		case bad:
			return nil, false
		case semicolon, end:
			if !empty {
				statements = append(statements, text[from:s.start])
			}
			if s.tok == end {
				return statements, true
			}
			from, empty = s.pos, true
		default:
			empty = false
		}
	}
}

// parser reads a statement.
type parser struct {
	scanner
	st      Statement
	travels bool // by its first word, and without what forbids it
}

// statement reads up to its end, a semicolon or where it is not understood.
func (p *parser) statement() {
	if p.isByte('(') {
		p.query(Read, false)
		return
	}
	if p.tok != word {
		return
	}
	var buf [maxWord]byte
	verb := upper(&buf, p.raw())
	switch string(verb) {
	case "SELECT", "VALUES", "TABLE":
		p.query(Read, false)
		return
	case "INSERT", "REPLACE":
		p.query(Write, true)
		return
	case "UPDATE", "DELETE":
		p.query(Write, false)
		return
	case "WITH":
		p.query(Unclear, false) // the main verb says it
		return
	}
	p.next()
	switch string(verb) {
	case "BEGIN":
		p.accept("WORK")
		p.ends(Begin)
	case "START":
		p.starting()
	case "COMMIT":
		p.accept("WORK")
		p.completion(Commit)
	case "ROLLBACK":
		p.accept("WORK")
		if p.accept("TO") {
			p.savepoint(RollbackTo, true)
		} else {
			p.completion(Rollback)
		}
	case "SAVEPOINT":
		p.savepoint(Savepoint, false)
	case "RELEASE":
		if p.accept("SAVEPOINT") {
			p.savepoint(Release, false)
		}
	case "XA":
		p.xa()
	case "SET":
		p.set()
	case "USE":
		p.name(Use)
	default:
		p.rarely(string(verb))
	}
}

// rarely is for statements that no hot path has.
func (p *parser) rarely(verb string) {
	switch verb {
	case "SHOW", "DO", "HELP", "KILL", "SIGNAL", "RESIGNAL":
		p.rest(Read)
	case "EXPLAIN", "DESCRIBE", "DESC":
		if !p.is("ANALYZE") { // it runs what it explains
			p.rest(Read)
		}
	case "GET":
		if p.is("DIAGNOSTICS") || p.is("CURRENT") {
			p.rest(Read)
		}
	case "CREATE", "DROP":
		kind := Commits
		if p.accept("OR") && !p.accept("REPLACE") || p.is("PREPARE") {
			return
		}
		if p.accept("TEMPORARY") {
			kind = Temporary
		}
		p.rest(kind)
	case "ALTER":
		if !p.is("INSTANCE") {
			p.rest(Commits)
		}
	case "LOCK":
		if p.is("TABLE") || p.is("TABLES") {
			p.st.Locks = true
			p.rest(Commits)
		}
	case "FLUSH":
		p.st.Locks = true // WITH READ LOCK, FOR EXPORT
		p.rest(Commits)
	case "RENAME", "TRUNCATE", "GRANT", "REVOKE", "OPTIMIZE", "REPAIR":
		p.rest(Commits)
	case "STOP":
		if p.is("SLAVE") || p.is("REPLICA") {
			p.rest(Commits)
		}
	case "ANALYZE":
		for p.accept("NO_WRITE_TO_BINLOG") || p.accept("LOCAL") { //nolint:revive // reads on
		}
		if p.is("TABLE") || p.is("TABLES") { // MariaDB's ANALYZE UPDATE runs it
			p.rest(Commits)
		}
	}
}

// ends sets the kind if the statement ends here.
func (p *parser) ends(kind Kind) {
	if p.tok == end || p.tok == semicolon {
		p.st.Kind = kind
	}
}

// rest reads to the end, of what is not looked into but for what it calls.
func (p *parser) rest(kind Kind) {
	p.tokens(body{kind: kind})
	if kind == Commits || kind == Temporary {
		p.st.Calls = false // names before parentheses are others there
	}
}

// starting is what begins with START.
func (p *parser) starting() {
	switch {
	case p.accept("TRANSACTION"):
		for {
			switch {
			case p.is("READ"), p.is("WRITE"), p.is("WITH"), p.is("CONSISTENT"), p.is("SNAPSHOT"), p.isByte(','):
			case p.is("ONLY"):
				p.st.ReadOnly = true
			default:
				p.ends(Begin)
				return
			}
			p.next()
		}
	case p.is("SLAVE"), p.is("REPLICA"):
		p.rest(Commits)
	}
}

// completion is [AND [NO] CHAIN] [[NO] RELEASE].
func (p *parser) completion(kind Kind) {
	if p.accept("AND") {
		p.st.NoChain = p.accept("NO")
		if !p.accept("CHAIN") {
			return
		}
		p.st.Chain = !p.st.NoChain
	}
	no := p.accept("NO")
	switch release := p.accept("RELEASE"); {
	case no && !release:
		return
	case release:
		p.st.Quits, p.st.NoQuit = !no, no
	}
	p.ends(kind)
}

// savepoint reads the name. A savepoint may be called SAVEPOINT.
func (p *parser) savepoint(kind Kind, optional bool) {
	if optional && p.is("SAVEPOINT") {
		name := p.raw()
		if p.next(); p.tok == end || p.tok == semicolon {
			p.st.Kind, p.st.Name = kind, name
			return
		}
	}
	p.name(kind)
}

// name is the last word of a statement.
func (p *parser) name(kind Kind) {
	either := p.tok == literal && p.mode.Unknown && p.text[p.start] == '"'
	if p.tok == word || p.tok == quoted || either {
		p.st.Name, _ = unquote(p.raw())
		p.next()
		p.ends(kind)
	}
}

func (p *parser) xa() {
	kind := Unclear
	switch {
	case p.accept("START"), p.accept("BEGIN"):
		kind = XABegin
	case p.accept("END"):
		kind = XAEnd
	case p.accept("PREPARE"):
		kind = XAPrepare
	case p.accept("COMMIT"):
		kind = XACommit
	case p.accept("ROLLBACK"):
		kind = XARollback
	case p.accept("RECOVER"):
		kind = Read
	}
	p.rest(kind)
}

// query reads a statement of data. An Unclear one is WITH: its main verb says what it is. target: it names a
// table, and columns behind that.
func (p *parser) query(kind Kind, target bool) {
	p.travels = true
	p.tokens(body{kind: kind, target: target, named: kind == Unclear})
}

// body says how the tokens of a statement are read.
type body struct {
	kind   Kind
	target bool // names with a parenthesis are the table, not a function
	named  bool // likewise, of common table expressions
	listed bool // ends at a comma
}

// tokens reads up to the end of a statement, for what it calls and the placeholders.
func (p *parser) tokens(b body) {
	depth := 0
	var name string           // the token before, if it may be called
	var dot, alias bool       // a dot, AS, stands before it
	var dotted, as, next bool // the token before is one; is NEXT
	for ; ; p.next() {
		called := ""
		isDot, isAs, isNext := false, false, false // or what may have a name with columns behind it
		switch p.tok {
		case end, semicolon, bad:
			p.travels = p.travels && depth == 0
			p.st.Kind = b.kind
			return
		case param:
			p.st.Placeholders++
		case other:
			switch p.b {
			case '.':
				isDot = true
			case '(':
				if name != "" && !p.known(name, dot) {
					switch {
					case b.target:
						b.target = false
					case alias, b.named && depth == 0:
					default:
						p.st.Calls = true
					}
				}
				depth++
			case ')':
				depth--
				isAs = true
			case ',':
				if b.listed && depth == 0 {
					p.st.Kind = b.kind
					return
				}
			}
		case literal, quoted:
			called = p.raw()
		case word:
			called = p.raw()
			switch len(called) {
			case 2:
				isAs = p.is("AS")
			case 3:
				b.target = b.target && !p.is("SET")
			case 4:
				isNext = p.is("NEXT")
				if b.kind == Read && p.is("INTO") { // a file, or variables
					p.travels = false
				}
			case 5:
				if p.is("VALUE") {
					b.target = false
					p.st.Calls = p.st.Calls || next // NEXT VALUE FOR a sequence writes it
				}
				if b.named && depth == 0 && p.is("TABLE") {
					b.kind, b.named = Read, false
				}
			case 6:
				switch {
				case p.is("SELECT"), p.is("VALUES"):
					b.target = false
					if b.named && depth == 0 {
						b.kind, b.named = Read, false
					}
				case b.named && depth == 0 && (p.is("UPDATE") || p.is("DELETE")):
					b.kind, b.named = Write, false
				}
			case 7:
				p.st.Calls = p.st.Calls || p.is("NEXTVAL") // without parentheses in sql_mode=ORACLE
			}
		}
		name, dot, alias = called, dotted, as
		dotted, as, next = isDot, isAs, isNext
	}
}

// known says whether a name before a parenthesis, at the token, is a keyword or a built-in function.
func (p *parser) known(name string, qualified bool) bool {
	var buf [maxWord]byte
	if qualified {
		return false
	}
	known, ok := words[string(upper(&buf, name))]
	// The name of a function with a gap behind it may be that of a stored one.
	return ok && (known == keyword || !p.gap)
}
