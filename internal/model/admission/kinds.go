package admission

// Kinds returns the kinds that have rules.
func Kinds() []Kind {
	return []Kind{installations(), executions(), deployItems(), targets(), targetSyncs()}
}

func executions() Kind {
	return Kind{
		Resource: "executions", Parent: "Installation",
		Variables: []Variable{
			{"items", "object.?spec.?deployItems.orValue([])"},
			{"itemNames", "variables.items.map(e, e.?name.orValue(''))"},
		},
		Rules: []Rule{
			{ID: "item-name", Path: "spec.deployItems", Offenders: "variables.itemNames.filter(n, n == '').map(n, '(without a name)')", Problem: "must have a name"},
			{ID: "item-name-unique", Path: "spec.deployItems", Offenders: duplicates("variables.itemNames"), Problem: "is used more than once"},
			{ID: "item-type", Path: "spec.deployItems[].type", Offenders: named("variables.items", "e.?type.orValue('') == ''"), Problem: "must not be empty: give the type of a deployer"},
			{ID: "item-target", Path: "spec.deployItems[].target", Offenders: named("variables.items", "has(e.target) && (e.target.?name.orValue('') == '' || e.target.?namespace.orValue('') == '')"), Problem: "must have a name and a namespace"},
			{ID: "item-labels", Path: "spec.deployItems[].labels",
				Offenders: named("variables.items", "e.?labels.orValue({}).exists(k, format.qualifiedName().validate(k).hasValue() || format.labelValue().validate(e.labels[k]).hasValue())"),
				Problem:   "has a key or a value that is not a label"},
			{ID: "item-timeout", Path: "spec.deployItems[].timeout", Offenders: named("variables.items", "!e.?timeout.orValue('none').matches('"+durationPattern+"')"), Problem: "is not a duration: use a number with a unit such as 90s, 10m or 1h30m, or none"},
			{ID: "item-depends-on", Path: "spec.deployItems[].dependsOn", Offenders: named("variables.items", "e.?dependsOn.orValue([]).exists(d, !(d in variables.itemNames))"), Problem: "names an item that does not exist"},
			{ID: "item-depends-on-itself", Path: "spec.deployItems[].dependsOn", Offenders: named("variables.items", "has(e.name) && e.name in e.?dependsOn.orValue([])"), Problem: "names the item itself"},
		},
	}
}

func deployItems() Kind {
	return Kind{
		Resource: "deployitems", Parent: "Execution",
		Variables: []Variable{{"spec", "object.?spec.orValue({})"}},
		Rules: []Rule{
			{ID: "type", Path: "spec.type", Violated: "variables.spec.?type.orValue('') == ''", Offender: "object.metadata.name", Problem: "must not be empty: give the type of a deployer"},
			{ID: "type-immutable", Path: "spec.type", Violated: "request.operation == 'UPDATE' && oldObject.?spec.?type.orValue('') != variables.spec.?type.orValue('')", Offender: "variables.spec.?type.orValue('')", Problem: "cannot be changed: delete the item and create another one"},
			{ID: "target", Path: "spec.target", Violated: "has(variables.spec.target) && (variables.spec.target.?name.orValue('') == '' || variables.spec.target.?namespace.orValue('') == '')", Offender: "object.metadata.name", Problem: "must have a name and a namespace"},
			{ID: "timeout", Path: "spec.timeout", Violated: "!variables.spec.?timeout.orValue('none').matches('" + durationPattern + "')", Offender: "variables.spec.timeout", Problem: "is not a duration: use a number with a unit such as 90s, 10m or 1h30m, or none"},
		},
	}
}

func targets() Kind {
	return Kind{
		Resource: "targets", Parent: "Installation",
		Variables: []Variable{{"spec", "object.?spec.orValue({})"}},
		Rules: []Rule{
			{ID: "content", Path: "spec", Violated: "has(variables.spec.config) && has(variables.spec.secretRef)", Offender: "object.metadata.name", Problem: "must not have both config and secretRef"},
			{ID: "no-content", Path: "spec", Violated: "!has(variables.spec.config) && !has(variables.spec.secretRef)", Offender: "object.metadata.name", Problem: "has neither config nor secretRef, so nothing can be deployed with it", Warn: true},
		},
	}
}

func targetSyncs() Kind {
	return Kind{
		Resource:  "targetsyncs",
		Variables: []Variable{{"spec", "object.?spec.orValue({})"}},
		Rules: []Rule{
			{ID: "one-expression", Path: "spec", Violated: "variables.spec.?secretNameExpression.orValue('') != '' && variables.spec.?shootNameExpression.orValue('') != ''", Offender: "object.metadata.name", Problem: "has both secretNameExpression and shootNameExpression, so nothing will be synchronised: use one of them", Warn: true},
			{ID: "no-expression", Path: "spec", Violated: "variables.spec.?secretNameExpression.orValue('') == '' && variables.spec.?shootNameExpression.orValue('') == ''", Offender: "object.metadata.name", Problem: "has neither secretNameExpression nor shootNameExpression, so it selects nothing", Warn: true},
			{ID: "secret-key", Path: "spec.secretRef.key", Violated: "variables.spec.?secretRef.?key.orValue('') == ''", Offender: "object.metadata.name", Problem: "is empty: name the key that holds the kubeconfig", Warn: true},
		},
	}
}
