//! Detects queries that would contact another server, because they contain `SERVICE`.

use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

/// Checks whether a SPARQL query contains `SERVICE`, which would contact another server. Searches
/// all parts of the query, including subqueries and expressions.
pub(crate) fn calls_service(query: &Query) -> bool {
    match query {
        Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. } => in_pattern(pattern),
    }
}

fn in_pattern(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Service { .. } => true,
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => false,
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => in_pattern(left) || in_pattern(right),
        GraphPattern::LeftJoin { left, right, expression } => {
            in_pattern(left) || in_pattern(right) || expression.as_ref().is_some_and(in_expression)
        }
        GraphPattern::Filter { expr, inner } => in_expression(expr) || in_pattern(inner),
        GraphPattern::Extend { inner, expression, .. } => {
            in_expression(expression) || in_pattern(inner)
        }
        GraphPattern::OrderBy { inner, expression } => {
            let by = |order: &OrderExpression| match order {
                OrderExpression::Asc(by) | OrderExpression::Desc(by) => in_expression(by),
            };
            expression.iter().any(by) || in_pattern(inner)
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            let of = |aggregate: &AggregateExpression| match aggregate {
                AggregateExpression::CountSolutions { .. } => false,
                AggregateExpression::FunctionCall { expr, .. } => in_expression(expr),
            };
            aggregates.iter().any(|(_, aggregate)| of(aggregate)) || in_pattern(inner)
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => in_pattern(inner),
    }
}

fn in_expression(expression: &Expression) -> bool {
    match expression {
        Expression::Exists(pattern) => in_pattern(pattern),
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_) => false,
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
        | Expression::Divide(a, b) => in_expression(a) || in_expression(b),
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => {
            in_expression(a)
        }
        Expression::If(a, b, c) => in_expression(a) || in_expression(b) || in_expression(c),
        Expression::In(a, list) => in_expression(a) || list.iter().any(in_expression),
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
            list.iter().any(in_expression)
        }
    }
}
