package sqltext

// Classify returns what a text does to its session. One semicolon may end it.
func Classify(text string, charset Charset) Statement {
	p := parser{scanner: scanner{text: text, charset: charset}}
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
func Split(text string, charset Charset) (statements []string, ok bool) {
	s := scanner{text: text, charset: charset}
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
	release := p.accept("RELEASE")
	if p.st.Quits = release && !no; release || !no {
		p.ends(kind)
	}
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
	either := p.tok == literal && p.text[p.start] == '"' // a name in ANSI_QUOTES
	if p.tok == word || p.tok == quoted || either {
		p.st.Name = unquote(p.raw())
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
