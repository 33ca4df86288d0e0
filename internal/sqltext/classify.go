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
		return Statement{}
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

type parser struct {
	scanner
	st      Statement
	travels bool // by its first word, and without what forbids it
}

// statement reads up to its end, a semicolon or where it is not understood.
func (p *parser) statement() {
	if p.isByte('(') {
		p.query(body{kind: Read})
		return
	}
	if p.tok != word {
		return
	}
	var buf [maxWord]byte
	verb := upper(&buf, p.raw())
	p.next()
	switch string(verb) {
	case "SELECT", "VALUES", "TABLE":
		p.query(body{kind: Read})
	case "INSERT", "REPLACE":
		p.query(body{kind: Write, target: true})
	case "UPDATE", "DELETE":
		p.query(body{kind: Write})
	case "WITH":
		p.query(body{named: true})
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
			p.savepoint(RollbackTo)
		} else {
			p.completion(Rollback)
		}
	case "SAVEPOINT":
		p.name(Savepoint)
	case "RELEASE":
		if p.accept("SAVEPOINT") {
			p.name(Release)
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
		p.rest(Read, true)
	case "EXPLAIN", "DESCRIBE", "DESC":
		p.rest(Read, !p.is("ANALYZE")) // it runs what it explains
	case "GET":
		p.rest(Read, p.is("DIAGNOSTICS") || p.is("CURRENT"))
	case "CREATE", "DROP":
		known := (!p.accept("OR") || p.accept("REPLACE")) && !p.is("PREPARE")
		if known && p.accept("TEMPORARY") {
			p.rest(Temporary, true)
		} else {
			p.rest(ImplicitCommit, known)
		}
	case "ALTER":
		p.rest(ImplicitCommit, !p.is("INSTANCE"))
	case "LOCK":
		p.st.Locks = true
		p.rest(ImplicitCommit, p.is("TABLE") || p.is("TABLES"))
	case "FLUSH":
		p.st.Locks = true // WITH READ LOCK, FOR EXPORT
		p.rest(ImplicitCommit, true)
	case "RENAME", "TRUNCATE", "GRANT", "REVOKE", "OPTIMIZE", "REPAIR":
		p.rest(ImplicitCommit, true)
	case "STOP":
		p.rest(ImplicitCommit, p.is("SLAVE") || p.is("REPLICA"))
	case "ANALYZE":
		for p.accept("NO_WRITE_TO_BINLOG") || p.accept("LOCAL") { //nolint:revive // reads on
		}
		p.rest(ImplicitCommit, p.is("TABLE") || p.is("TABLES")) // MariaDB's ANALYZE UPDATE runs it
	}
}

// ends sets the kind if the statement ends here.
func (p *parser) ends(kind Kind) {
	if p.tok == end || p.tok == semicolon {
		p.st.Kind = kind
	}
}

// rest skips to the end of a statement whose kind is known, noting only what it calls.
func (p *parser) rest(kind Kind, known bool) {
	if !known {
		return
	}
	p.tokens(body{kind: kind})
	if kind == ImplicitCommit || kind == Temporary {
		p.st.Calls = false // names before parentheses are others there
	}
}

// starting is what begins with START.
func (p *parser) starting() {
	if !p.accept("TRANSACTION") {
		p.rest(ImplicitCommit, p.is("SLAVE") || p.is("REPLICA"))
		return
	}
	for p.accept("READ") || p.accept("WRITE") || p.accept("ONLY") || p.accept("WITH") || p.accept("CONSISTENT") || p.accept("SNAPSHOT") || p.acceptByte(',') { //nolint:revive // reads on
	}
	p.ends(Begin)
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

// savepoint reads [SAVEPOINT] name. A savepoint may be called SAVEPOINT.
func (p *parser) savepoint(kind Kind) {
	before := p.scanner
	if p.accept("SAVEPOINT") && (p.tok == end || p.tok == semicolon) {
		p.scanner = before
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
		kind = Begin
	case p.accept("END"):
		kind = XAEnd
	case p.accept("PREPARE"), p.accept("COMMIT"):
		kind = Commit
	case p.accept("ROLLBACK"):
		kind = Rollback
	case p.accept("RECOVER"):
		kind = Read
	}
	p.rest(kind, true)
}

// query reads a statement of data.
func (p *parser) query(b body) {
	p.travels = true
	p.tokens(b)
}
