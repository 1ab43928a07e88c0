package admission

import "strings"

// targetMapKey is what the key of a target map must look like.
const targetMapKey = `^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`

// AllowedSourceNamespaces is the variable that holds the administrator's
// permissions: a map from a source namespace to the namespaces whose
// Installations may import from it. The installer fills it.
const AllowedSourceNamespaces = "allowedSourceNamespaces"

func installations() Kind {
	return Kind{
		Resource: "installations",
		Variables: []Variable{
			{"spec", "object.?spec.orValue({})"},
			{"data", "variables.spec.?imports.?data.orValue([])"},
			{"targets", "variables.spec.?imports.?targets.orValue([])"},
			{"dataExports", "variables.spec.?exports.?data.orValue([])"},
			{"targetExports", "variables.spec.?exports.?targets.orValue([])"},
			{"importNames", "variables.data.map(e, e.?name.orValue('')) + variables.targets.map(e, e.?name.orValue(''))"},
			{"dataExportNames", "variables.dataExports.map(e, e.?name.orValue(''))"},
			{"targetExportNames", "variables.targetExports.map(e, e.?name.orValue(''))"},
			{AllowedSourceNamespaces, "{}"},
			// The published controller stores an empty definition in subinstallations.
			{"storedEmpty", "request.operation == 'UPDATE' && oldObject.?spec.?componentDescriptor.hasValue() && " + emptyDefinition("oldObject.?spec") + " && " + emptyDefinition("object.?spec")},
		},
		Rules: concat(installationNames(), installationImports(), installationExports(), installationSources(), installationSchedules()),
	}
}

func emptyDefinition(spec string) string {
	return "!" + spec + ".?componentDescriptor.?ref.hasValue() && !" + spec + ".?componentDescriptor.?inline.hasValue()"
}

func installationNames() []Rule {
	return []Rule{
		{
			ID: "name-length", Path: "metadata.name",
			Violated: "request.operation == 'CREATE' && !has(object.metadata.generateName) && size(object.metadata.name) > 58", Offender: "object.metadata.name",
			Problem: "is longer than 58 characters: the name becomes part of labels, which cannot be longer",
		},
		{
			ID: "generate-name-length", Path: "metadata.generateName",
			Violated: "request.operation == 'CREATE' && has(object.metadata.generateName) && size(object.metadata.generateName) > 53", Offender: "object.metadata.generateName",
			Problem: "is longer than 53 characters: the name becomes part of labels, which cannot be longer",
		},
		{
			ID: "name-label", Path: "metadata.name",
			Violated: "request.operation == 'CREATE' && object.metadata.name.contains('.')", Offender: "object.metadata.name",
			Problem: "must not contain a dot: use lower-case letters, digits and -",
		},
	}
}

func installationImports() []Rule {
	oneSource := "[e.?dataRef.orValue('') != '', has(e.secretRef), has(e.configMapRef)].filter(given, given).size() != 1"
	oneTarget := "[e.?target.orValue('') != '', has(e.targets), e.?targetListRef.orValue('') != '', has(e.targetMap), e.?targetMapRef.orValue('') != ''].filter(given, given).size() != 1"
	foreign := func(ref string) string {
		return "e.?" + ref + ".?namespace.orValue('') != '' && e." + ref + ".namespace != request.namespace && " +
			"!(request.namespace in variables." + AllowedSourceNamespaces + "[?e." + ref + ".namespace].orValue([]))"
	}
	names := "object.?spec.?imports.hasValue()"
	lists := "object.?spec.?imports.?targets.orValue([]).exists(e, has(e.targets) || has(e.targetMap))"
	return concat(where(filled("imports.?data"),
		Rule{ID: "data-import-source", Path: "spec.imports.data", Offenders: named("variables.data", oneSource), Problem: "must have exactly one of dataRef, secretRef and configMapRef"},
		Rule{ID: "data-import-secret-name", Path: "spec.imports.data[].secretRef.name", Offenders: named("variables.data", "has(e.secretRef) && e.secretRef.?name.orValue('') == ''"), Problem: "must not be empty: give the name of a Secret of this namespace"},
		Rule{ID: "data-import-configmap-name", Path: "spec.imports.data[].configMapRef.name", Offenders: named("variables.data", "has(e.configMapRef) && e.configMapRef.?name.orValue('') == ''"), Problem: "must not be empty: give the name of a ConfigMap of this namespace"},
		Rule{ID: "data-import-namespace", Path: "spec.imports.data[].secretRef.namespace, configMapRef.namespace",
			Offenders: named("variables.data", "("+foreign("secretRef")+") || ("+foreign("configMapRef")+")"),
			Problem:   "refers to another namespace, which the administrator has not allowed: copy the object into this namespace or ask for permission"},
	), where(names,
		Rule{ID: "import-name", Path: "spec.imports", Offenders: "variables.importNames.filter(n, n == '').map(n, '(without a name)')", Problem: "must have a name"},
		Rule{ID: "import-name-unique", Path: "spec.imports", Offenders: duplicates("variables.importNames"), Problem: "is used more than once: names are unique over data and targets"},
	), where(filled("imports.?targets"),
		Rule{ID: "target-import-source", Path: "spec.imports.targets", Offenders: named("variables.targets", oneTarget), Problem: "must have exactly one of target, targets, targetListRef, targetMap and targetMapRef"},
	), where(lists,
		Rule{ID: "target-import-list", Path: "spec.imports.targets[].targets", Offenders: named("variables.targets", "e.?targets.orValue([]).exists(t, t == '')"), Problem: "must not contain an empty name"},
		Rule{ID: "target-import-map-key", Path: "spec.imports.targets[].targetMap", Offenders: named("variables.targets", "e.?targetMap.orValue({}).exists(k, !k.matches('"+targetMapKey+"'))"), Problem: "has a key that is not made of at most 63 lower-case letters, digits, - and ."},
		Rule{ID: "target-import-map-value", Path: "spec.imports.targets[].targetMap", Offenders: named("variables.targets", "e.?targetMap.orValue({}).exists(k, e.targetMap[k] == '')"), Problem: "must not contain an empty name"},
	))
}

func installationExports() []Rule {
	unstorable := func(field string) string {
		return "!e.?" + field + ".orValue('x').matches('^#?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')"
	}
	data, targets := filled("exports.?data"), filled("exports.?targets")
	return concat(where(data,
		Rule{ID: "data-export-ref", Path: "spec.exports.data[].dataRef", Offenders: named("variables.dataExports", "e.?dataRef.orValue('') == ''"), Problem: "must not be empty: give the name under which others find the value"},
		Rule{ID: "data-export-name", Path: "spec.exports.data", Offenders: "variables.dataExportNames.filter(n, n == '').map(n, '(without a name)')", Problem: "must have a name"},
		Rule{ID: "data-export-name-unique", Path: "spec.exports.data", Offenders: duplicates("variables.dataExportNames"), Problem: "is used more than once"},
	), where(targets,
		Rule{ID: "target-export-ref", Path: "spec.exports.targets[].target", Offenders: named("variables.targetExports", "e.?target.orValue('') == ''"), Problem: "must not be empty: give the name under which others find the Target"},
		Rule{ID: "target-export-name", Path: "spec.exports.targets", Offenders: "variables.targetExportNames.filter(n, n == '').map(n, '(without a name)')", Problem: "must have a name"},
		Rule{ID: "target-export-name-unique", Path: "spec.exports.targets", Offenders: duplicates("variables.targetExportNames"), Problem: "is used more than once"},
	), where(data,
		Rule{ID: "export-name-in-both-lists", Path: "spec.exports", Offenders: "variables.dataExportNames.filter(n, n != '' && n in variables.targetExportNames)", Problem: "names a data export and a target export, which is hard to read", Warn: true},
		Rule{ID: "data-export-ref-label", Path: "spec.exports.data[].dataRef", Offenders: named("variables.dataExports", "e.?dataRef.orValue('') != '' && "+unstorable("dataRef")), Problem: "cannot be stored as a label, so the export will fail: use at most 63 letters, digits, -, _ and .", Warn: true},
	), where(targets,
		Rule{ID: "target-export-ref-label", Path: "spec.exports.targets[].target", Offenders: named("variables.targetExports", "e.?target.orValue('') != '' && "+unstorable("target")), Problem: "cannot be stored as a label, so the export will fail: use at most 63 letters, digits, -, _ and .", Warn: true},
	))
}

func installationSources() []Rule {
	return []Rule{
		{ID: "blueprint", Path: "spec.blueprint",
			Violated: "[has(variables.spec.?blueprint.orValue({}).ref), has(variables.spec.?blueprint.orValue({}).inline)].filter(given, given).size() != 1", Offender: "object.metadata.name",
			Problem: "must have exactly one of ref and inline"},
		{ID: "component-descriptor", Path: "spec.componentDescriptor",
			Violated: "has(variables.spec.componentDescriptor) && !variables.storedEmpty && [has(variables.spec.componentDescriptor.ref), has(variables.spec.componentDescriptor.inline)].filter(given, given).size() != 1", Offender: "object.metadata.name",
			Problem: "must have exactly one of ref and inline"},
	}
}

func installationSchedules() []Rule {
	var rules []Rule
	given := "object.?spec.?automaticReconcile.hasValue()"
	for _, schedule := range []string{"succeededReconcile", "failedReconcile"} {
		id := strings.ToLower(strings.TrimSuffix(schedule, "Reconcile"))
		cron := "variables.spec.?automaticReconcile.?" + schedule + ".?cronSpec.orValue('')"
		interval := "variables.spec.?automaticReconcile.?" + schedule + ".?interval.orValue('none')"
		rules = append(rules,
			Rule{ID: id + "-cron", Where: given, Path: "spec.automaticReconcile." + schedule + ".cronSpec",
				Violated: cron + " != '' && !" + cron + ".matches('" + cronPattern() + "')", Offender: cron,
				Problem: "is not a schedule: use five fields such as 0 6 * * 1, or a word such as @hourly"},
			Rule{ID: id + "-interval", Where: given, Path: "spec.automaticReconcile." + schedule + ".interval",
				Violated: "!" + interval + ".matches('" + durationPattern + "')", Offender: interval,
				Problem: "is not a duration: use a number with a unit such as 90s, 10m or 1h30m, or none"})
	}
	return rules
}

func concat(lists ...[]Rule) []Rule {
	var all []Rule
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
