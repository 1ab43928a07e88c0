package syntax

// Parse reads the content of one expression, the text between "((" and "))".
func Parse(src string) (expr Expr, err error) {
	p := &parser{src: src}
	defer func() {
		if r := recover(); r != nil {
			parseErr, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			expr, err = nil, parseErr
		}
	}()
	p.space()
	if p.pos == len(src) {
		p.expected("an expression")
	}
	expr = p.source()
	p.space()
	if p.pos < len(src) {
		p.expected("an operator with white space on both sides or the end of the expression")
	}
	return expr, nil
}

func (p *parser) source() Expr {
	if p.peek() == '&' {
		return p.marked()
	}
	if p.word("prefer") {
		start := p.pos
		p.pos += len("prefer")
		if p.space() && p.startsExpr() {
			return &Prefer{Body: p.expr()}
		}
		p.pos = start
	}
	return p.expr()
}

// expr reads a whole expression, leading white space included.
func (p *parser) expr() Expr {
	p.enter()
	defer p.leave()
	p.space()
	if p.lambdaHeaderAhead() {
		return p.lambda()
	}
	if p.peek() == '(' {
		first := p.scopeOrGroup()
		if scope, ok := first.(*Scope); ok {
			scope.Body = p.expr()
			return scope
		}
		return p.binary(0, first)
	}
	return p.binary(0, nil)
}

// scopeOrGroup reads "( … )" at the start of an expression, where it may be a
// scope literal or a bracketed operand. Only one of them matches, so nothing
// is read twice.
func (p *parser) scopeOrGroup() Expr {
	p.need("(")
	p.space()
	if p.accept(")") {
		return &Scope{}
	}
	first := p.expr()
	p.space()
	if !p.assignAhead() {
		p.need(")")
		return p.chain(&Group{Body: first})
	}
	entries := p.entries(first, ")")
	return &Scope{Entries: entries}
}

func (p *parser) assignAhead() bool { return p.peek() == '=' && p.at(1) != '=' }

// entries reads "= value {, key = value} close" after the first key.
func (p *parser) entries(key Expr, closing string) []Entry {
	var list []Entry
	for {
		p.space()
		if !p.assignAhead() {
			p.expected(`"=" and a value`)
		}
		p.pos++
		value := p.expr()
		list = append(list, Entry{Key: key, Value: value})
		p.space()
		if p.accept(closing) {
			return list
		}
		p.need(",")
		key = p.expr()
	}
}

// levels lists the binary operators from the weakest level to the strongest.
// The conditional operator stands between the first and the second level.
var levels = [][]Op{
	{Or, OrNil},
	{Join},
	{LogOr, LogAnd},
	{Equal, Unequal, LessEq, GreaterEq, Less, Greater},
	{Add, Sub},
	{Mul, Div, Mod},
}

// binary reads the operators of one level and below. first is an operand that
// has been read already, or nil.
func (p *parser) binary(level int, first Expr) Expr {
	if level == len(levels) {
		if first != nil {
			return first
		}
		return p.unary()
	}
	left := p.tighter(level, first)
	for {
		start := p.pos
		if !p.space() {
			return left
		}
		op, ok := p.operator(levels[level])
		if !ok {
			p.pos = start
			return left
		}
		left = &Binary{Op: op, L: left, R: p.tighter(level, nil)}
	}
}

func (p *parser) tighter(level int, first Expr) Expr {
	expr := p.binary(level+1, first)
	if level == 0 {
		return p.conditional(expr)
	}
	return expr
}

func (p *parser) conditional(cond Expr) Expr {
	start := p.pos
	p.space()
	if !p.accept("?") {
		p.pos = start
		return cond
	}
	then := p.expr()
	p.space()
	if !p.accept(":") {
		p.expected(`":" of the conditional (leave a blank before it, "x:y" is one name)`)
	}
	return &Cond{If: cond, Then: then, Else: p.expr()}
}

// operator consumes an operator of the level together with the white space
// behind it. For the juxtaposition it only checks that an operand follows.
func (p *parser) operator(ops []Op) (Op, bool) {
	for _, op := range ops {
		if op == Join {
			return Join, p.startsOperand() && !p.wordOperator()
		}
		if p.has(string(op)) && isSpace(p.at(len(op))) {
			p.pos += len(op)
			p.space()
			return op, true
		}
	}
	return "", false
}

// wordOperator reports whether a symbol that may also start an operand stands here as an operator.
func (p *parser) wordOperator() bool {
	for _, op := range []Op{Mul, Unequal} {
		if p.has(string(op)) && isSpace(p.at(len(op))) {
			return true
		}
	}
	return false
}

// startsOperand reports whether an operand can begin at the current position.
func (p *parser) startsOperand() bool {
	switch c := p.peek(); c {
	case '"', '$', '*', '(', '[', '{', '~':
		return true
	case '.':
		return isSymbol(p.at(1)) || p.at(1) == '['
	case '!':
		return p.at(1) != '='
	case '-':
		return isDigit(p.at(1))
	default:
		return isSymbol(c)
	}
}

func (p *parser) startsExpr() bool { return p.startsOperand() || p.lambdaHeaderAhead() }
