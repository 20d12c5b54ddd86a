//! Visits the parts of a query: finds names, detects `SERVICE`, which would contact another server,
//! and measures how deeply expressions are nested.

use oxigraph::model::NamedNode;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, Function, GraphPattern, OrderExpression,
    PropertyPathExpression,
};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

/// A part of a query that [`visit`] reports.
pub(crate) enum Part<'a> {
    /// An IRI, unless it is the address in a `SERVICE`.
    Name(&'a NamedNode),
    /// The keyword `SERVICE`.
    Service,
    /// An expression begins. The parts up to its [`ExpressionEnd`](Self::ExpressionEnd) are in it.
    ExpressionBegin,
    /// An expression ends.
    ExpressionEnd,
}

/// Checks whether a SPARQL query contains `SERVICE`, which would contact another server. Searches
/// all parts of the query, including subqueries and expressions.
pub(crate) fn calls_service(query: &Query) -> bool {
    let mut found = false;
    visit(query, &mut |part| found |= matches!(part, Part::Service));
    found
}

/// Returns how deeply the expressions of a SPARQL query are nested. For example, returns 1 for `?a`
/// and 3 for `?a + ?b + 1`.
pub(crate) fn expression_depth(query: &Query) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    visit(query, &mut |part| match part {
        Part::ExpressionBegin => {
            depth += 1;
            deepest = deepest.max(depth);
        }
        Part::ExpressionEnd => depth = depth.saturating_sub(1),
        Part::Name(_) | Part::Service => {}
    });
    deepest
}

/// Calls `see` with each part of a query. The order is that of the query's text as far as the
/// parsed query preserves that order.
pub(crate) fn visit<'a>(query: &'a Query, see: &mut dyn FnMut(Part<'a>)) {
    match query {
        Query::Select { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. } => in_pattern(pattern, see),
        Query::Construct { template, pattern, .. } => {
            template.iter().for_each(|triple| in_triple(triple, see));
            in_pattern(pattern, see);
        }
    }
}

fn in_pattern<'a>(pattern: &'a GraphPattern, see: &mut dyn FnMut(Part<'a>)) {
    match pattern {
        GraphPattern::Service { inner, .. } => {
            see(Part::Service);
            in_pattern(inner, see);
        }
        GraphPattern::Bgp { patterns } => patterns.iter().for_each(|triple| in_triple(triple, see)),
        GraphPattern::Path { subject, path, object } => {
            in_term(subject, see);
            in_path(path, see);
            in_term(object, see);
        }
        GraphPattern::Values { bindings, .. } => {
            for value in bindings.iter().flatten().flatten() {
                if let GroundTerm::NamedNode(name) = value {
                    see(Part::Name(name));
                }
            }
        }
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            in_pattern(left, see);
            in_pattern(right, see);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            in_pattern(left, see);
            in_pattern(right, see);
            expression.iter().for_each(|expression| in_expression(expression, see));
        }
        GraphPattern::Filter { expr, inner } => {
            in_pattern(inner, see);
            in_expression(expr, see);
        }
        GraphPattern::Extend { inner, expression, .. } => {
            in_pattern(inner, see);
            in_expression(expression, see);
        }
        GraphPattern::OrderBy { inner, expression } => {
            in_pattern(inner, see);
            for order in expression {
                match order {
                    OrderExpression::Asc(by) | OrderExpression::Desc(by) => in_expression(by, see),
                }
            }
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            in_pattern(inner, see);
            for (_, aggregate) in aggregates {
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    in_expression(expr, see);
                }
            }
        }
        GraphPattern::Graph { name, inner } => {
            in_name(name, see);
            in_pattern(inner, see);
        }
        GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => in_pattern(inner, see),
    }
}

fn in_triple<'a>(triple: &'a TriplePattern, see: &mut dyn FnMut(Part<'a>)) {
    in_term(&triple.subject, see);
    in_name(&triple.predicate, see);
    in_term(&triple.object, see);
}

fn in_term<'a>(term: &'a TermPattern, see: &mut dyn FnMut(Part<'a>)) {
    if let TermPattern::NamedNode(name) = term {
        see(Part::Name(name));
    }
}

fn in_name<'a>(name: &'a NamedNodePattern, see: &mut dyn FnMut(Part<'a>)) {
    if let NamedNodePattern::NamedNode(name) = name {
        see(Part::Name(name));
    }
}

fn in_path<'a>(path: &'a PropertyPathExpression, see: &mut dyn FnMut(Part<'a>)) {
    match path {
        PropertyPathExpression::NamedNode(name) => see(Part::Name(name)),
        PropertyPathExpression::NegatedPropertySet(names) => {
            names.iter().for_each(|name| see(Part::Name(name)));
        }
        PropertyPathExpression::Reverse(inner)
        | PropertyPathExpression::ZeroOrMore(inner)
        | PropertyPathExpression::OneOrMore(inner)
        | PropertyPathExpression::ZeroOrOne(inner) => in_path(inner, see),
        PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
            in_path(a, see);
            in_path(b, see);
        }
    }
}

fn in_expression<'a>(expression: &'a Expression, see: &mut dyn FnMut(Part<'a>)) {
    see(Part::ExpressionBegin);
    in_operands(expression, see);
    see(Part::ExpressionEnd);
}

fn in_operands<'a>(expression: &'a Expression, see: &mut dyn FnMut(Part<'a>)) {
    match expression {
        Expression::Exists(pattern) => in_pattern(pattern, see),
        Expression::NamedNode(name) => see(Part::Name(name)),
        Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => {}
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => {
            in_expression(a, see);
            in_expression(b, see);
        }
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => {
            in_expression(a, see);
        }
        Expression::If(a, b, c) => [a, b, c].into_iter().for_each(|part| in_expression(part, see)),
        Expression::In(a, list) => {
            in_expression(a, see);
            list.iter().for_each(|part| in_expression(part, see));
        }
        Expression::Coalesce(list) => list.iter().for_each(|part| in_expression(part, see)),
        Expression::FunctionCall(function, list) => {
            if let Function::Custom(name) = function {
                see(Part::Name(name));
            }
            list.iter().for_each(|part| in_expression(part, see));
        }
    }
}
